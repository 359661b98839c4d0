import { protocolNames } from "@tau-agent/rpc-protocol";
import { permissionModes, thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import type { CliOptions } from "./cli-options.ts";
import { hostingOptions } from "./hosting-options.ts";
import type { OptionRow } from "./option-row.ts";
import { storeOptions } from "./store-options.ts";

export interface HostOption extends OptionRow {
  readonly key: keyof CliOptions;
  /** Where the value of a switch goes when one follows it after `=`. */
  readonly inlineKey?: keyof CliOptions;
}

type HostOptions = Readonly<Record<string, HostOption>>;

const waysIn: HostOptions = {
  mode: {
    key: "mode",
    value: "mode",
    kind: "value",
    choices: ["text", "json", "rpc"],
    help: "rpc: commands on stdin, events on stdout; json: events of one run; text: the final text",
  },
  print: { key: "print", kind: "switch", short: "p", help: "Answer one prompt and exit" },
  protocol: {
    key: "protocol",
    value: "dialect",
    kind: "value",
    choices: protocolNames,
    help: `Dialect of the RPC protocol: ${protocolNames.join(", ")}`,
  },
  "output-schema": {
    key: "outputSchema",
    value: "file",
    isPath: true,
    kind: "value",
    help: "With -p: file with a JSON Schema that the answer fits; prints it as JSON",
  },
  "trajectory-file": {
    key: "trajectoryFile",
    value: "file",
    isPath: true,
    kind: "value",
    help: "With -p: write the session as a trajectory (ATIF) at the end, also after a failure",
  },
  verbatim: {
    key: "verbatim",
    kind: "switch",
    help: "With -p: the prompts are forwarded text, in which no command or skill is looked at",
  },
  export: {
    key: "export",
    value: "session file",
    isPath: true,
    kind: "value",
    help: "Write a session file as one HTML page, as tau export does; a path behind it says where",
  },
  "list-models": {
    key: "listModels",
    kind: "optional",
    help: "List the models whose provider has a key, all or those with these words",
  },
  help: { key: "help", kind: "switch", short: "h", help: "Show this help" },
  version: { key: "version", kind: "switch", short: "v", help: "Show the version" },
};

const model: HostOptions = {
  provider: {
    key: "provider",
    value: "id",
    isNeverEmpty: true,
    kind: "value",
    help: "Provider of the model (anthropic, openai, …)",
  },
  model: {
    key: "model",
    value: "model",
    isNeverEmpty: true,
    kind: "value",
    help: "Model: id, provider/id or a part of it, with optional :<thinking>",
  },
  durability: {
    key: "durability",
    value: "what",
    kind: "value",
    choices: ["log", "effects"],
    help: "What survives the host: the log, or effects of tools as well",
  },
  "durability-adopt-ms": {
    key: "durabilityAdoptMs",
    value: "n",
    kind: "value",
    help: "How long commands of a host that died wait for the next one",
  },
  "max-turns": {
    key: "maxTurns",
    value: "n",
    kind: "value",
    help: "Pause a prompt after so many replies; -p exits with 2 then",
  },
  "resume-interrupted": {
    key: "resumeInterrupted",
    kind: "switch",
    help: "Go on with a prompt whose host died, when its session is opened",
  },
  "fallback-model": {
    key: "fallbackModel",
    value: "provider/id",
    isNeverEmpty: true,
    kind: "list",
    help: "Model that answers when the one before it fails; repeatable",
  },
  models: {
    key: "models",
    value: "patterns",
    kind: "value",
    help: "Models to cycle through, comma-separated patterns",
  },
  thinking: {
    key: "thinking",
    value: "level",
    kind: "value",
    choices: thinkingLevels,
    help: `Thinking level: ${thinkingLevels.join(", ")}`,
  },
  "api-key": {
    key: "apiKey",
    value: "key",
    kind: "value",
    help: "Key for the provider, for this run only",
  },
};

const session: HostOptions = {
  cwd: {
    key: "cwd",
    value: "folder",
    isNeverEmpty: true,
    kind: "value",
    help: "Project folder, default the current one; absolute in a workspace",
  },
  workspace: {
    key: "workspace",
    value: "name|JSON",
    isNeverEmpty: true,
    kind: "value",
    help: 'Where tools act: a name of the settings, or {"command": […], …}',
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
  session: {
    key: "session",
    value: "file|id",
    isPath: true,
    kind: "value",
    help: "Session to continue: a file, or an id of this project",
  },
  "session-id": {
    key: "sessionId",
    value: "id",
    kind: "value",
    help: "Session with this id; made if there is none",
  },
  fork: {
    key: "fork",
    value: "file|id",
    isPath: true,
    kind: "value",
    help: "Start a copy of a session (a file, or an id)",
  },
  "no-session": { key: "noSession", kind: "switch", help: "Keep the session in memory only" },
  "session-dir": {
    key: "sessionDir",
    value: "folder",
    isPath: true,
    kind: "value",
    help: "Folder for session files",
  },
  name: { key: "name", value: "name", kind: "value", short: "n", help: "Name of the session" },
};

const tools: HostOptions = {
  tools: {
    key: "tools",
    value: "names",
    kind: "value",
    short: "t",
    help: "Active tools: names, +name, -name, comma-separated",
  },
  "exclude-tools": {
    key: "excludeTools",
    value: "names",
    kind: "value",
    short: "xt",
    help: "Tools to leave out, in subagents too",
  },
  "no-tools": { key: "noTools", kind: "switch", short: "nt", help: "No tools at all" },
  "no-builtin-tools": {
    key: "noBuiltinTools",
    kind: "switch",
    short: "nbt",
    help: "No built-in tools",
  },
  "permission-mode": {
    key: "permissionMode",
    value: "mode",
    kind: "value",
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
  approve: { key: "approve", kind: "switch", short: "a", help: "Trust this project for this run" },
  "no-approve": {
    key: "noApprove",
    kind: "switch",
    short: "na",
    help: "Do not trust this project for this run",
  },
  "tool-execution": {
    key: "toolExecution",
    value: "how",
    kind: "value",
    choices: ["sequential", "parallel"],
    help: "How the tool calls of a reply run: sequential, parallel",
  },
  "mcp-servers": {
    key: "mcpServers",
    value: "names",
    kind: "value",
    help: "MCP servers to use, comma-separated",
  },
  "no-mcp": { key: "noMcp", kind: "switch", help: "Start no MCP servers" },
  "task-depth": {
    key: "taskDepth",
    value: "n",
    kind: "value",
    help: "How deep this host stands among subagents; set by the host that starts it",
  },
  "task-folder": {
    key: "taskFolder",
    value: "path",
    kind: "value",
    help: "The folder that this host's folder is a copy of; set by the host that starts it",
  },
  "task-agents": {
    key: "taskAgents",
    value: "names",
    kind: "value",
    help: "Agents this host's subagents may be, comma-separated",
  },
  "agent-name": {
    key: "agentName",
    value: "name",
    kind: "value",
    help: "The agent as its spans name it; set by the host that starts it",
  },
};

const resources: HostOptions = {
  "system-prompt": {
    key: "systemPrompt",
    value: "text|file",
    kind: "value",
    help: "Replaces the system prompt (text or file)",
  },
  "append-system-prompt": {
    key: "appendSystemPrompt",
    value: "text|file",
    kind: "list",
    help: "Added to the system prompt (text or file); repeatable",
  },
  extension: {
    key: "extension",
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
    key: "noExtensions",
    kind: "switch",
    short: "ne",
    help: "Load no extensions but those of -e",
  },
  skill: {
    key: "skill",
    value: "path",
    isPath: true,
    kind: "list",
    help: "Skill file or folder; repeatable",
  },
  "no-skills": { key: "noSkills", kind: "switch", short: "ns", help: "Load no skills" },
  "prompt-template": {
    key: "promptTemplate",
    value: "path",
    isPath: true,
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
  theme: {
    key: "theme",
    value: "path",
    isPath: true,
    kind: "list",
    help: "Taken and without effect: there is no terminal",
  },
  "no-themes": {
    key: "noThemes",
    kind: "switch",
    help: "Taken and without effect: there is no terminal",
  },
};

const ofProcess: HostOptions = {
  offline: { key: "offline", kind: "switch", help: "No network besides model requests" },
  "log-file": {
    key: "logFile",
    value: "file",
    isPath: true,
    kind: "value",
    help: "Write the log here instead of stderr",
  },
  verbose: { key: "verbose", kind: "switch", help: "Log more" },
};

export const hostOptionGroups: readonly {
  readonly title: string;
  readonly options: HostOptions;
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

export const hostOptions: HostOptions = Object.assign(
  {},
  ...hostOptionGroups.map(({ options }) => options),
);
