import type { ToolEnvironment } from "./environment.ts";

// Variables that git sets for hooks and aliases; a command that inherits them would work on the host's repository.
const repositoryVariables = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_PREFIX",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_NAMESPACE",
  "GIT_SHALLOW_FILE",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_QUARANTINE_PATH",
];

const staleSessionVariables = [
  "PI_SESSION_ID",
  "PI_SESSION_FILE",
  "PI_PROVIDER",
  "PI_MODEL",
  "PI_REASONING_LEVEL",
];

// Nobody can quit a pager or an editor, or answer a prompt.
const unattended: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  PIP_NO_INPUT: "1",
  DEBIAN_FRONTEND: "noninteractive",
  TERM: "dumb",
  AI_AGENT: "pi",
};

type CommandEnvironment = Pick<ToolEnvironment, "inheritKeys" | "keyVariables" | "namedVariables">;

/**
 * The environment of a shell command: the host's, without provider keys (unless `inheritKeys`) and
 * without the host's own repository and session, set up so that no program waits for a person.
 */
export function processEnvironment(
  environment: CommandEnvironment & Pick<ToolEnvironment, "environment">,
  sessionVariables: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const changes = environmentChanges(environment, sessionVariables);
  const all = Object.entries({ ...environment.environment, ...changes });
  return Object.fromEntries(
    all.flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])),
  );
}

/** The same as changes to the variables of a workspace, wherever it is; `null` removes a variable. */
export function environmentChanges(
  { inheritKeys, keyVariables = [], namedVariables = [] }: CommandEnvironment,
  sessionVariables: Readonly<Record<string, string>> = {},
): Record<string, string | null> {
  const keys = inheritKeys === true ? [] : [...keyVariables, ...namedVariables];
  const removed = [...repositoryVariables, ...staleSessionVariables, ...keys];
  return {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...unattended,
    ...sessionVariables,
  };
}
