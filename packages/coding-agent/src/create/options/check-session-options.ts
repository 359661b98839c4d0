import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SessionError, thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import type { SessionStart } from "@tau-agent/sessions/log";
import {
  anything,
  callable,
  checkNames,
  checkOptions,
  isDiagnosticsEntry,
  list,
  type OptionCheck,
  type OptionChecks,
  object,
  oneOf,
  required,
  text,
  texts,
} from "@tau-agent/system";
import type { CreateAgentSessionOptions } from "./session-options.ts";
import { sessionWords } from "./session-start.ts";

const settings: OptionCheck = {
  expected: "a SettingsStore; SettingsStore.inMemory({…}) makes one of plain values",
  accepts: (value) => typeof Object(value).get === "function",
};
const model: OptionCheck = {
  expected: "a name or a model",
  accepts: (value) => text.accepts(value) || object.accepts(value),
};
const store: OptionCheck = { ...model, expected: "a store, its URL, or the name of a module" };

const diagnostics: OptionCheck = {
  expected: "{entries: [{match, command, format?} or {match, server, languageId?}]}",
  accepts: (value) => {
    const { entries } = Object(value);
    return Array.isArray(entries) && entries.every(isDiagnosticsEntry);
  },
};

const fromOne: OptionCheck = {
  expected: "a whole number from 1 on",
  accepts: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};

/** Checks for every option: an invalid value would otherwise fail later, without naming the option. */
const checks: { readonly [Name in keyof Required<CreateAgentSessionOptions>]: OptionCheck } = {
  cwd: text,
  workspace: {
    expected: "a workspace, how to reach one, or its name in the settings",
    accepts: (value) => text.accepts(value) || object.accepts(value),
  },
  additionalDirectories: texts,
  baseDirectory: text,
  environment: object,
  agentDirectory: text,
  homeDirectory: text,
  temporaryDirectory: text,
  provider: text,
  model,
  models: texts,
  fallbackModels: texts,
  thinkingLevel: oneOf(thinkingLevels),
  apiKey: text,
  credentials: callable,
  store,
  projectKey: text,
  sessionDirectory: text,
  name: text,
  isWorkspaceOfClient: anything,
  clientPlace: anything,
  overlay: callable,
  tools: object,
  toolExecution: oneOf(["sequential", "parallel"]),
  customTools: list,
  prompt: object,
  providers: list,
  stream: callable,
  settings,
  extensions: object,
  secrets: list,
  secretFiles: texts,
  mcpServers: object,
  mcp: object,
  approve: callable,
  raiseBudget: callable,
  answerQuestions: callable,
  findLocalServers: anything,
  session: anything,
  beforeOpen: callable,
  leaseMs: anything,
  diagnostics,
  sandbox: anything,
  hostProcesses: list,
  sharing: object,
  durability: oneOf(["log", "effects"]),
  durabilityAdoptMs: fromOne,
  resume: oneOf(["auto"]),
  maxTurns: fromOne,
  permissions: anything,
  policy: anything,
  clientReady: anything,
  rewind: anything,
  refusesMistakes: anything,
  telemetry: anything,
  agentName: text,
  trustProject: anything,
  startSubagentHost: callable,
  taskDepth: anything,
  taskFolder: text,
  taskAgents: texts,
};

/** The members that each kind of session start needs. */
const starts: { readonly [Kind in SessionStart["kind"]]: OptionChecks } = {
  new: { id: text },
  id: { id: required(text) },
  memory: { id: text },
  log: { log: required(object) },
  file: { path: required(text) },
  latest: {},
  fork: { from: required(text), id: text },
};

/**
 * Checks the options of a session that can be checked without loading anything.
 *
 * @throws {SessionError} `invalid_option`, naming the option
 */
export function checkSessionOptions(options: CreateAgentSessionOptions): void {
  checkOptions(options, checks as OptionChecks);
  checkNames(options, Object.keys(checks));
  checkStart(options.session);
  checkFolder(options);
}

function checkStart(session: CreateAgentSessionOptions["session"]): void {
  if (session == null) return;
  if (typeof session !== "object" || Array.isArray(session)) {
    checkOptions({ session }, { session: words });
  } else if (!("kind" in session) && "path" in session) {
    checkOptions(session, { path: required(text) }, "session.");
    checkNames(session, ["path"], "session.");
  } else {
    checkOptions(session, { kind: required(oneOf(Object.keys(starts))) }, "session.");
    checkOptions(session, starts[session.kind as SessionStart["kind"]], "session.");
  }
}

const words: OptionCheck = {
  ...oneOf(sessionWords),
  expected: '"memory", "continue", {path} or {kind}',
};

/** The folder need not exist here if a client or a workspace has the files. */
function checkFolder(options: CreateAgentSessionOptions): void {
  const { cwd, workspace, overlay } = options;
  if (overlay !== undefined || workspace !== undefined) return;
  if (cwd === undefined) checkOptions(options, { cwd: required(text) });
  const path = resolve(cwd ?? "");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  throw folderMissing(path, found !== undefined);
}

/** The error for a working folder that is missing or not a folder. */
export function folderMissing(path: string, isThere: boolean, workspaceId?: string): SessionError {
  const place = workspaceId === undefined ? path : `${path} in workspace ${workspaceId}`;
  const reason = isThere ? `${place} is not a folder` : `there is no folder ${place}`;
  return new SessionError("invalid_option", { option: "cwd", reason });
}
