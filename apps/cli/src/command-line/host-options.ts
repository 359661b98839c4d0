import { protocolNames } from "@tau-agent/rpc-protocol";
import { permissionModes, thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import { hostingOptions } from "./hosting-options.ts";
import type { OptionTable } from "./option-row.ts";
import { storeOptions } from "./store-options.ts";

const waysIn = {
  mode: {
    value: "mode",
    choices: ["text", "json", "rpc"],
    help: "rpc: commands on stdin, events on stdout; json: events of one run; text: the final text",
  },
  print: { kind: "switch", short: "p", help: "Answer one prompt and exit" },
  protocol: {
    value: "dialect",
    choices: protocolNames,
    help: `Dialect of the RPC protocol: ${protocolNames.join(", ")}`,
  },
  "output-schema": {
    value: "file",
    isPath: true,
    help: "With -p: file with a JSON Schema that the answer fits; prints it as JSON",
  },
  "trajectory-file": {
    value: "file",
    isPath: true,
    help: "With -p: write the session as a trajectory (ATIF) at the end, also after a failure",
  },
  verbatim: {
    kind: "switch",
    help: "With -p: the prompts are forwarded text, in which no command or skill is looked at",
  },
  export: {
    value: "session file",
    isPath: true,
    help: "Write a session file as one HTML page, as tau export does; a path behind it says where",
  },
  "list-models": {
    kind: "optional",
    help: "List the models whose provider has a key, all or those with these words",
  },
  help: { kind: "switch", short: "h", help: "Show this help" },
  version: { kind: "switch", short: "v", help: "Show the version" },
} as const satisfies OptionTable;

const model = {
  provider: {
    value: "id",
    isNeverEmpty: true,
    help: "Provider of the model (anthropic, openai, …)",
  },
  model: {
    value: "model",
    isNeverEmpty: true,
    help: "Model: id, provider/id or a part of it, with optional :<thinking>",
  },
  durability: {
    value: "what",
    choices: ["log", "effects"],
    help: "What survives the host: the log, or effects of tools as well",
  },
  "durability-adopt-ms": {
    value: "n",
    help: "How long commands of a host that died wait for the next one",
  },
  "max-turns": { value: "n", help: "Pause a prompt after so many replies; -p exits with 2 then" },
  "resume-interrupted": {
    kind: "switch",
    help: "Go on with a prompt whose host died, when its session is opened",
  },
  "fallback-model": {
    value: "provider/id",
    isNeverEmpty: true,
    kind: "list",
    help: "Model that answers when the one before it fails; repeatable",
  },
  models: { value: "patterns", help: "Models to cycle through, comma-separated patterns" },
  thinking: {
    value: "level",
    choices: thinkingLevels,
    help: `Thinking level: ${thinkingLevels.join(", ")}`,
  },
  "api-key": {
    value: "key",
    help: "Key for the provider, for this run only",
  },
} as const satisfies OptionTable;

const session = {
  cwd: {
    value: "folder",
    isNeverEmpty: true,
    help: "Project folder, default the current one; absolute in a workspace",
  },
  workspace: {
    value: "name|JSON",
    isNeverEmpty: true,
    help: 'Where tools act: a name of the settings, or {"command": […], …}',
  },
  continue: {
    kind: "switch",
    short: "c",
    inlineKey: "session",
    help: "Continue this project's latest session; --continue=<file>: the one in the file",
  },
  resume: {
    kind: "switch",
    short: "r",
    inlineKey: "session",
    help: "The same; there is no terminal to choose in",
  },
  session: {
    value: "file|id",
    isPath: true,
    help: "Session to continue: a file, or an id of this project",
  },
  "session-id": {
    value: "id",
    help: "Session with this id; made if there is none",
  },
  fork: { value: "file|id", isPath: true, help: "Start a copy of a session (a file, or an id)" },
  "no-session": { kind: "switch", help: "Keep the session in memory only" },
  "session-dir": {
    value: "folder",
    isPath: true,
    help: "Folder for session files",
  },
  name: { value: "name", short: "n", help: "Name of the session" },
} as const satisfies OptionTable;

const tools = {
  tools: { value: "names", short: "t", help: "Active tools: names, +name, -name, comma-separated" },
  "exclude-tools": { value: "names", short: "xt", help: "Tools to leave out, in subagents too" },
  "no-tools": { kind: "switch", short: "nt", help: "No tools at all" },
  "no-builtin-tools": {
    kind: "switch",
    short: "nbt",
    help: "No built-in tools",
  },
  "permission-mode": {
    value: "mode",
    choices: permissionModes,
    help: `How tools are approved where no rule fits: ${permissionModes.join(", ")}`,
  },
  policy: {
    key: "policyFiles",
    value: "file|JSON",
    isPath: true,
    isNeverEmpty: true,
    kind: "list",
    help: "What nothing else can widen; several narrow it",
  },
  approve: { kind: "switch", short: "a", help: "Trust this project for this run" },
  "no-approve": {
    kind: "switch",
    short: "na",
    help: "Do not trust this project for this run",
  },
  "tool-execution": {
    value: "how",
    choices: ["sequential", "parallel"],
    help: "How the tool calls of a reply run: sequential, parallel",
  },
  "mcp-servers": {
    value: "names",
    help: "MCP servers to use, comma-separated",
  },
  "no-mcp": { kind: "switch", help: "Start no MCP servers" },
  "task-depth": {
    value: "n",
    help: "How deep this host stands among subagents; set by the host that starts it",
  },
  "task-folder": {
    value: "path",
    help: "The folder that this host's folder is a copy of; set by the host that starts it",
  },
  "task-agents": { value: "names", help: "Agents this host's subagents may be, comma-separated" },
  "agent-name": {
    value: "name",
    help: "The agent as its spans name it; set by the host that starts it",
  },
} as const satisfies OptionTable;

const resources = {
  "system-prompt": { value: "text|file", help: "Replaces the system prompt (text or file)" },
  "append-system-prompt": {
    value: "text|file",
    kind: "list",
    help: "Added to the system prompt (text or file); repeatable",
  },
  extension: {
    value: "path",
    isPath: true,
    kind: "list",
    short: "e",
    help: "Extension file or folder; repeatable",
  },
  hook: {
    key: "extension",
    value: "path",
    isPath: true,
    kind: "list",
    help: "Older name of --extension",
  },
  "no-extensions": {
    kind: "switch",
    short: "ne",
    help: "Load no extensions but those of -e",
  },
  skill: {
    value: "path",
    isPath: true,
    kind: "list",
    help: "Skill file or folder; repeatable",
  },
  "no-skills": { kind: "switch", short: "ns", help: "Load no skills" },
  "prompt-template": {
    value: "path",
    isPath: true,
    kind: "list",
    help: "Prompt template file or folder; repeatable",
  },
  "no-prompt-templates": {
    kind: "switch",
    short: "np",
    help: "Load no prompt templates",
  },
  "no-context-files": {
    kind: "switch",
    short: "nc",
    help: "Do not read AGENTS.md and its like",
  },
  theme: {
    value: "path",
    isPath: true,
    kind: "list",
    help: "Taken and without effect: there is no terminal",
  },
  "no-themes": {
    kind: "switch",
    help: "Taken and without effect: there is no terminal",
  },
} as const satisfies OptionTable;

const ofProcess = {
  offline: { kind: "switch", help: "No network besides model requests" },
  "log-file": { value: "file", isPath: true, help: "Write the log here instead of stderr" },
  verbose: { kind: "switch", help: "Log more" },
} as const satisfies OptionTable;

export const hostOptionGroups: readonly {
  readonly title: string;
  readonly options: OptionTable;
}[] = [
  { title: "Ways in", options: waysIn },
  { title: "Model", options: model },
  { title: "Session", options: session },
  { title: "Tools and safety", options: tools },
  { title: "Prompt and extensions", options: resources },
  { title: "Many sessions and connections", options: hostingOptions },
  { title: "Store for sessions", options: storeOptions },
  { title: "Process", options: ofProcess },
];

const rows = {
  ...waysIn,
  ...model,
  ...session,
  ...tools,
  ...resources,
  ...hostingOptions,
  ...storeOptions,
  ...ofProcess,
};

export type HostOptionTable = typeof rows;

export const hostOptions: OptionTable = rows;
