import { nearestHint } from "@tau-agent/coding-agent";
import { environmentHelp } from "../command-line/environment-help.ts";
import { commandHelp, helpText, optionsHelp } from "../command-line/help.ts";
import type { Subcommand } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";

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

/** Topics besides the subcommands. */
const topics: Readonly<Record<string, () => Promise<string>>> = {
  options: async () => optionsHelp(),
  models: async () => modelsHelp,
  environment: async () => environmentHelp(),
};

/**
 * What `tau help` says on a topic; without one, what `tau --help` says.
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
