import { statSync } from "node:fs";
import { resolve } from "node:path";
import { thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import {
  callable,
  checkOptions,
  list,
  type OptionCheck,
  type OptionChecks,
  object,
  oneOf,
  required,
  text,
  texts,
} from "../base/check-options.ts";
import { SessionError } from "../base/errors.ts";
import type { SessionStart } from "../session-log/session-home.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

const settings: OptionCheck = {
  expected: "a SettingsStore; SettingsStore.inMemory({…}) makes one of plain values",
  accepts: (value) => typeof Object(value).get === "function",
};
const model: OptionCheck = {
  expected: "a name or a model",
  accepts: (value) => text.accepts(value) || object.accepts(value),
};
const store: OptionCheck = { ...model, expected: "a store, its URL, or the name of a module" };

/** Options that other values would break later, where nothing names them. */
const checks: { readonly [Name in keyof CreateAgentSessionOptions]?: OptionCheck } = {
  cwd: required(text),
  additionalDirectories: texts,
  baseDirectory: text,
  environment: object,
  agentDirectory: text,
  homeDirectory: text,
  temporaryDirectory: text,
  provider: text,
  model,
  models: texts,
  thinkingLevel: oneOf(thinkingLevels),
  apiKey: text,
  store,
  projectKey: text,
  sessionDirectory: text,
  name: text,
  files: object,
  runCommand: callable,
  tools: object,
  toolExecution: oneOf(["sequential", "parallel"]),
  customTools: list,
  prompt: object,
  providers: list,
  stream: callable,
  settings,
  extensions: object,
  secretFiles: texts,
  mcpServers: object,
  mcp: object,
  approve: callable,
  raiseBudget: callable,
};

/** The members that a session to begin with needs, by its kind. */
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
 * Checks the options of a session as far as nothing has to be loaded for it.
 *
 * @throws {SessionError} `invalid_option` naming the option
 */
export function checkSessionOptions(options: CreateAgentSessionOptions): void {
  checkOptions(options, checks as OptionChecks);
  const { session } = options;
  if (session != null) {
    checkOptions(session, { kind: required(oneOf(Object.keys(starts))) }, "session.");
    checkOptions(session, starts[session.kind], "session.");
  }
  checkFolder(options);
}

/** Where files and commands are elsewhere, the folder need not be here. */
function checkFolder({ cwd, files, runCommand }: CreateAgentSessionOptions): void {
  if (files !== undefined || runCommand !== undefined) return;
  const path = resolve(cwd);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  const reason = found === undefined ? `there is no folder ${path}` : `${path} is not a folder`;
  throw new SessionError("invalid_option", { option: "cwd", reason });
}
