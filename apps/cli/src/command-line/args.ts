import type { PermissionMode, ToolExecutionMode } from "@tau-agent/rpc-protocol";
import { ProtocolError, protocolNames } from "@tau-agent/rpc-protocol";
import { type ThinkingLevel, thinkingLevels } from "@tau-agent/rpc-protocol/messages";
import { permissionModes } from "@tau-agent/rpc-protocol/plain";
import { type HostingOptions, hostingFlags } from "./hosting-flags.ts";
import { type StoreOptions, storeFlags } from "./store-flags.ts";

/** What the command line says. */
export interface CliOptions extends HostingOptions, StoreOptions {
  mode?: "text" | "json" | "rpc";
  print?: boolean;
  help?: boolean;
  version?: boolean;
  verbose?: boolean;
  offline?: boolean;
  provider?: string;
  model?: string;
  models?: string;
  thinking?: ThinkingLevel;
  permissionMode?: PermissionMode;
  toolExecution?: ToolExecutionMode;
  apiKey?: string;
  systemPrompt?: string;
  appendSystemPrompt: string[];
  outputSchema?: string;
  session?: string;
  continue?: boolean;
  resume?: boolean;
  fork?: string;
  sessionDir?: string;
  sessionId?: string;
  noSession?: boolean;
  name?: string;
  tools?: string;
  taskDepth?: string;
  taskAgents?: string;
  agentName?: string;
  noTools?: boolean;
  noBuiltinTools?: boolean;
  excludeTools?: string;
  noSkills?: boolean;
  skill: string[];
  noPromptTemplates?: boolean;
  promptTemplate: string[];
  noContextFiles?: boolean;
  noMcp?: boolean;
  mcpServers?: string;
  extension: string[];
  noExtensions?: boolean;
  approve?: boolean;
  noApprove?: boolean;
  protocol?: string;
  /** What to look for; empty for all models. */
  listModels?: string;
  /** Session file to make a page of; the first message is where. */
  export?: string;
  noThemes?: boolean;
  theme: string[];
  logFile?: string;
  /** Long flags this version does not know; extensions may. */
  unknown: Map<string, string | true>;
  /** Words behind unknown flags; prompts, should the flag turn out to be a switch. */
  borrowed: readonly BorrowedWord[];
  /** `@file` arguments without the `@`. */
  files: string[];
  messages: string[];
  /** The first word that is neither a flag nor a value, and comes before `--`. */
  firstWord?: string;
}

/** A word that may be the value of a flag or a prompt. */
interface BorrowedWord {
  readonly flag: string;
  readonly word: string;
  /** The number of messages before it. */
  readonly at: number;
}

/** `optional`: takes the next word unless that is a flag or a file. */
type Flag = "switch" | "value" | "list" | "optional";

interface FlagRow {
  readonly key: keyof CliOptions;
  readonly kind: Flag;
  readonly short?: string;
  readonly choices?: readonly string[];
  /** The option that a switch sets instead when a value follows it after `=`. */
  readonly inlineKey?: keyof CliOptions;
  readonly help: string;
}

/** Every flag by its long name. */
export const flags: Readonly<Record<string, FlagRow>> = {
  mode: {
    key: "mode",
    kind: "value",
    choices: ["text", "json", "rpc"],
    help: "rpc: commands on stdin, events on stdout; json: events of one run; text: the final text",
  },
  print: { key: "print", kind: "switch", short: "p", help: "Answer one prompt and exit" },
  "output-schema": {
    key: "outputSchema",
    kind: "value",
    help: "With -p: file with a JSON Schema that the answer fits; prints it as JSON",
  },
  provider: {
    key: "provider",
    kind: "value",
    help: "Provider of the model (anthropic, openai, …)",
  },
  model: {
    key: "model",
    kind: "value",
    help: "Model: id, provider/id or a part of it, with optional :<thinking>",
  },
  models: {
    key: "models",
    kind: "value",
    help: "Models to cycle through, comma-separated patterns",
  },
  thinking: {
    key: "thinking",
    kind: "value",
    choices: thinkingLevels,
    help: `Thinking level: ${thinkingLevels.join(", ")}`,
  },
  "permission-mode": {
    key: "permissionMode",
    kind: "value",
    choices: permissionModes,
    help: `How tools are approved where no rule fits: ${permissionModes.join(", ")}`,
  },
  "tool-execution": {
    key: "toolExecution",
    kind: "value",
    choices: ["sequential", "parallel"],
    help: "How the tool calls of a reply run: sequential, parallel",
  },
  "api-key": { key: "apiKey", kind: "value", help: "Key for the provider, for this run only" },
  "system-prompt": {
    key: "systemPrompt",
    kind: "value",
    help: "Replaces the system prompt (text or file)",
  },
  "append-system-prompt": {
    key: "appendSystemPrompt",
    kind: "list",
    help: "Added to the system prompt (text or file); repeatable",
  },
  session: {
    key: "session",
    kind: "value",
    help: "Session to continue: a file, or an id of this project",
  },
  continue: {
    key: "continue",
    kind: "switch",
    short: "c",
    inlineKey: "session",
    help: "Continue this project's latest session; --continue=<file>: the one in the file",
  },
  resume: {
    key: "resume",
    kind: "switch",
    short: "r",
    inlineKey: "session",
    help: "The same; there is no terminal to choose in",
  },
  fork: { key: "fork", kind: "value", help: "Start a copy of a session (a file, or an id)" },
  "session-id": {
    key: "sessionId",
    kind: "value",
    help: "Session with this id; made if there is none",
  },
  "session-dir": { key: "sessionDir", kind: "value", help: "Folder for session files" },
  "no-session": { key: "noSession", kind: "switch", help: "Keep the session in memory only" },
  name: { key: "name", kind: "value", short: "n", help: "Name of the session" },
  tools: {
    key: "tools",
    kind: "value",
    short: "t",
    help: "Active tools: names, +name, -name, comma-separated",
  },
  "exclude-tools": {
    key: "excludeTools",
    kind: "value",
    short: "xt",
    help: "Tools to leave out, in subagents too",
  },
  "no-tools": { key: "noTools", kind: "switch", short: "nt", help: "No tools at all" },
  "task-depth": {
    key: "taskDepth",
    kind: "value",
    help: "How deep this host stands among subagents; set by the host that starts it",
  },
  "agent-name": {
    key: "agentName",
    kind: "value",
    help: "The agent as its spans name it; set by the host that starts it",
  },
  "task-agents": {
    key: "taskAgents",
    kind: "value",
    help: "Agents this host's subagents may be, comma-separated",
  },
  "no-builtin-tools": {
    key: "noBuiltinTools",
    kind: "switch",
    short: "nbt",
    help: "No built-in tools",
  },
  skill: { key: "skill", kind: "list", help: "Skill file or folder; repeatable" },
  "no-skills": { key: "noSkills", kind: "switch", short: "ns", help: "Load no skills" },
  "prompt-template": {
    key: "promptTemplate",
    kind: "list",
    help: "Prompt template file or folder; repeatable",
  },
  "no-prompt-templates": {
    key: "noPromptTemplates",
    kind: "switch",
    short: "np",
    help: "Load no prompt templates",
  },
  "no-context-files": {
    key: "noContextFiles",
    kind: "switch",
    short: "nc",
    help: "Do not read AGENTS.md and its like",
  },
  "no-mcp": { key: "noMcp", kind: "switch", help: "Start no MCP servers" },
  "mcp-servers": { key: "mcpServers", kind: "value", help: "MCP servers to use, comma-separated" },
  extension: {
    key: "extension",
    kind: "list",
    short: "e",
    help: "Extension file or folder; repeatable",
  },
  hook: { key: "extension", kind: "list", help: "Older name of --extension" },
  "no-extensions": {
    key: "noExtensions",
    kind: "switch",
    short: "ne",
    help: "Load no extensions but those of -e",
  },
  approve: { key: "approve", kind: "switch", short: "a", help: "Trust this project for this run" },
  "no-approve": {
    key: "noApprove",
    kind: "switch",
    short: "na",
    help: "Do not trust this project for this run",
  },
  protocol: {
    key: "protocol",
    kind: "value",
    choices: protocolNames,
    help: `Dialect of the RPC protocol: ${protocolNames.join(", ")}`,
  },
  "list-models": {
    key: "listModels",
    kind: "optional",
    help: "List the models whose provider has a key, all or those with these words",
  },
  export: {
    key: "export",
    kind: "value",
    help: "Write a session file as one HTML page; a path behind it says where",
  },
  theme: { key: "theme", kind: "list", help: "Taken and without effect: there is no terminal" },
  "no-themes": {
    key: "noThemes",
    kind: "switch",
    help: "Taken and without effect: there is no terminal",
  },
  ...hostingFlags,
  ...storeFlags,
  offline: { key: "offline", kind: "switch", help: "No network besides model requests" },
  "log-file": { key: "logFile", kind: "value", help: "Write the log here instead of stderr" },
  verbose: { key: "verbose", kind: "switch", help: "Log more" },
  help: { key: "help", kind: "switch", short: "h", help: "Show this help" },
  version: { key: "version", kind: "switch", short: "v", help: "Show the version" },
};

/**
 * Reads the command line. Unknown long flags are kept for extensions.
 *
 * @throws {ProtocolError} `invalid_option` naming the flag
 */
export function parseArgs(argv: readonly string[]): CliOptions {
  const options: CliOptions = {
    appendSystemPrompt: [],
    skill: [],
    promptTemplate: [],
    extension: [],
    theme: [],
    listen: [],
    allowOrigin: [],
    unknown: new Map(),
    borrowed: [],
    files: [],
    messages: [],
  };
  const queue = [...argv];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === "--") {
      options.messages.push(...queue.splice(0));
    } else if (word.startsWith("--")) {
      readLongFlag(options, word.slice(2), queue);
    } else if (word.startsWith("-") && word.length > 1 && !word.includes("\n")) {
      readShortFlag(options, word, queue);
    } else if (word.startsWith("@") && word.length > 1) {
      options.files.push(word.slice(1));
    } else {
      options.firstWord ??= word;
      options.messages.push(word);
    }
  }
  return options;
}

function readLongFlag(options: CliOptions, word: string, queue: string[]): void {
  const equals = word.indexOf("=");
  const name = equals === -1 ? word : word.slice(0, equals);
  const inline = equals === -1 ? undefined : word.slice(equals + 1);
  const row = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (row?.kind === "switch" && inline !== undefined) {
    const key = row.inlineKey;
    if (key === undefined) refuse(`--${name}`, "it takes no value");
    if (inline === "") refuse(`--${name}`, "it needs a file after the equals sign");
    setFlag(options, `--${name}`, { ...row, key, kind: "value" }, () => inline);
    return;
  }
  if (row !== undefined) {
    const isWordTaken = row.kind !== "optional" || takesWord(queue[0]);
    const takeValue = () => inline ?? (isWordTaken ? queue.shift() : "");
    setFlag(options, `--${name}`, row, takeValue);
    return;
  }
  if (!/^[\w-]+$/.test(name)) {
    // A prompt may begin with dashes (YAML frontmatter, a list).
    options.messages.push(`--${word}`);
    return;
  }
  const taken = inline === undefined && takesWord(queue[0]) ? queue.shift() : undefined;
  options.unknown.set(name, inline ?? taken ?? true);
  if (taken === undefined) return;
  const at = options.messages.length;
  options.borrowed = [...options.borrowed, { flag: name, word: taken, at }];
}

/**
 * Makes prompts again of words that were taken for values of flags, now that extensions have said
 * which flags are switches. `true` and `false` are values of switches, too.
 */
export function returnWords(options: CliOptions, switches: ReadonlySet<string>): void {
  const kept: BorrowedWord[] = [];
  let returned = 0;
  for (const { flag, word, at } of options.borrowed) {
    const place = at + returned;
    if (!switches.has(flag) || word === "true" || word === "false") {
      kept.push({ flag, word, at: place });
      continue;
    }
    options.messages.splice(place, 0, word);
    options.unknown.set(flag, true);
    returned += 1;
  }
  options.borrowed = kept;
}

function takesWord(next: string | undefined): boolean {
  return next !== undefined && !/^[-@]/.test(next);
}

function readShortFlag(options: CliOptions, word: string, queue: string[]): void {
  const row = Object.values(flags).find(({ short }) => `-${short}` === word);
  if (row === undefined) {
    refuse(word, "there is no such flag; see --help");
  }
  setFlag(options, word, row, () => queue.shift());
}

function setFlag(
  options: CliOptions,
  shown: string,
  row: FlagRow,
  takeValue: () => string | undefined,
): void {
  const target = options as unknown as Record<string, unknown>;
  if (row.kind === "switch") {
    target[row.key] = true;
    return;
  }
  const value = takeValue();
  if (value === undefined) refuse(shown, "it needs a value");
  if (row.choices !== undefined && !row.choices.includes(value)) {
    refuse(shown, `${JSON.stringify(value)} is not one of ${row.choices.join(", ")}`);
  }
  if (row.kind === "list") (target[row.key] as string[]).push(value);
  else target[row.key] = value;
}

function refuse(option: string, reason: string): never {
  throw new ProtocolError("invalid_option", { option, reason });
}
