import { nearestHint } from "@tau-agent/rpc-protocol/plain";
import { isSettingKey, settingHelp, settingKeys } from "@tau-agent/system";
import { environmentHelp } from "../command-line/environment-help.ts";
import { commandHelp, helpText, optionsHelp, wordedRows } from "../command-line/help.ts";
import type { Subcommand } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { exitCodes } from "../process/exit-codes.ts";

const modelsHelp = `Which model answers

  --model sonnet                 a part of its name, where only one fits
  --model anthropic/claude-...   provider and id, exactly
  --model sonnet:high            with a thinking level
  --list-models [words]          the models whose provider has a key

Without --model: defaultModel of the settings, else the best model of the first provider with a key,
else a server on this machine: Ollama, LM Studio, llama.cpp or vLLM at its usual port.

A key comes from, the strongest first:
  --api-key <key>                for this run
  tau auth login <provider>      kept in auth.json, as are keys
  models.json                    apiKey of a provider
  the environment                such as ANTHROPIC_API_KEY; tau help environment lists them

Any other server, in models.json of the agent directory (~/.pi/agent):
  {"providers": {"mine": {"baseUrl": "http://10.0.0.5:11434/v1", "api": "openai-completions",
    "models": [{"id": "qwen3"}]}}}
`;

const editorsHelp = `Tau in an editor

The editor starts tau acp itself and shows its sessions in its own windows. Keys, models, settings
and sessions are the same as everywhere. An editor that was started from a desktop often lacks the
variables of your shell: put keys into auth.json with tau auth login, or into "env".

Zed, in settings.json:
  {"agent_servers": {"Tau": {"type": "custom", "command": "tau", "args": ["acp"], "env": {}}}}

JetBrains IDEs, in ~/.jetbrains/acp.json; the command needs its full path:
  {"agent_servers": {"Tau": {"command": "/usr/local/bin/tau", "args": ["acp"], "env": {}}}}

Neovim, with avante.nvim:
  require("avante").setup({ provider = "tau",
    acp_providers = { tau = { command = "tau", args = { "acp" } } } })

Options go behind "acp", such as "--model", "anthropic/claude-sonnet-5"; tau acp --help has all.
`;

function settingsText(): string {
  const rows = settingKeys.filter(isSettingKey).map((key) => [key, settingHelp(key)] as const);
  return `Settings of settings.json; tau config set <setting> <value> writes one\n\n${wordedRows(rows)}\n`;
}

function exitCodesText(): string {
  const rows = exitCodes.map(({ exitCode, meaning }) => `  ${exitCode}  ${meaning}\n`);
  return `What tau exits with\n\n${rows.join("")}`;
}

const topics: Readonly<Record<string, () => Promise<string>>> = {
  options: async () => optionsHelp(),
  models: async () => modelsHelp,
  environment: async () => environmentHelp(),
  settings: async () => settingsText(),
  editors: async () => editorsHelp,
  "exit-codes": async () => exitCodesText(),
};

/**
 * The text of `tau help <topic>`; without a topic, that of `tau --help`.
 *
 * @throws {ProtocolError} `invalid_option` with the nearest topic
 */
export async function helpOn(subcommands: readonly Subcommand[], topic?: string): Promise<string> {
  if (topic === undefined) return helpText(subcommands, Object.keys(topics));
  const command = subcommands.find(({ name }) => name === topic);
  const text = Object.hasOwn(topics, topic) ? await topics[topic]?.() : undefined;
  const parts = [text, command && commandHelp(command)].filter((part) => part !== undefined);
  if (parts.length > 0) return parts.join("\n");
  const names = [...Object.keys(topics), ...subcommands.map(({ name }) => name)];
  return refuse(topic, `there is no such topic${nearestHint(topic, names)}; see tau help`);
}
