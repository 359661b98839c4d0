import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  type AgentSession,
  type CreateAgentSessionOptions,
  createAgentSession,
  type SessionSharing,
  type SessionStart,
} from "@tau-agent/coding-agent";
import { type Params, ProtocolError } from "@tau-agent/rpc-protocol";
import type { CliOptions } from "../../command-line/cli-options.ts";
import { environmentFrom, type ProcessEnvironment } from "../../process/environment.ts";
import { sessionOptions } from "../../session/session-options.ts";
import { survives } from "../../session/survives.ts";
import type { HostingContext } from "./hosting-context.ts";
import { realPath } from "./real-path.ts";
import type { SessionSeams } from "./session-pool.ts";

type Asked = Params<"open_session">;

export interface SessionDefaults extends HostingContext {
  readonly sharing: SessionSharing;
}

/**
 * Opens a session with the parameters of its client; the command line supplies the defaults.
 *
 * @throws {ProtocolError} `invalid_path`, `invalid_params`; {SessionError} as `createAgentSession`
 */
export async function openHostedSession(
  given: Asked,
  defaults: SessionDefaults,
  seams: SessionSeams,
): Promise<AgentSession> {
  const { logger, beforeExtensions, sharing, environment: environmentOfHost } = defaults;
  checkPaths(given);
  checkSecrets(given);
  // The approval is for the folder that the client knows, in this case that of the session file.
  const cwd = given.cwd ?? (given.approve === true ? storedFolder(given.sessionPath) : undefined);
  const asked: Asked = cwd === undefined ? given : { ...given, cwd };
  const environment = environmentOf(asked, environmentOfHost);
  const options = optionsOf(asked, defaults);
  const created = await sessionOptions(options, environment, { ...seams, beforeExtensions });
  const session = await createAgentSession({
    ...created,
    ...placesOf(asked, defaults, created),
    // A project's settings may name a store, but count only once the project is trusted.
    beforeOpen: ({ isStored }) => checkStore(asked, isStored),
    sharing,
  });
  defaults.shutdown.outlivesHost ||= survives(created, session.settings);
  logger.diagnostics(session.diagnostics);
  session.onDiagnostic((diagnostic) => logger.diagnostics([diagnostic]));
  return session;
}

function checkPaths({ cwd, workspace, sessionPath, durableSessionId }: Asked): void {
  // A folder of a workspace is looked up in the workspace.
  if (cwd !== undefined && workspace === undefined) checkFolder("cwd", cwd, cwd);
  if (sessionPath !== undefined) checkFolder("sessionPath", sessionPath, dirname(sessionPath));
  if (sessionPath !== undefined && durableSessionId !== undefined) {
    refuse("durableSessionId", "sessionPath already says which session");
  }
}

/** The value itself would appear in frames and in recordings of them. */
function checkSecrets({ secrets = [] }: Asked): void {
  const at = secrets.findIndex(({ value }) => !/^(?:\$[A-Za-z_]\w*|!\s*\S[\s\S]*)$/.test(value));
  if (at !== -1) refuse(`secrets[${at}].value`, "expected $NAME or !command");
}

/** Files and stores name sessions in different ways. */
function checkStore({ sessionPath, projectKey }: Asked, isStored: boolean): void {
  if (isStored && sessionPath !== undefined) {
    refuse("sessionPath", "sessions are in a store here; name one by its durableSessionId");
  }
  if (projectKey !== undefined && !isStored && !/^(?!\.{1,2}$)[^/\\\0]+$/.test(projectKey)) {
    refuse("projectKey", "in files, it is the name of a folder");
  }
}

function refuse(field: string, reason: string): never {
  throw new ProtocolError("invalid_params", { command: "open_session", field, reason });
}

function checkFolder(field: string, path: string, folder: string): void {
  if (!isAbsolute(path)) {
    throw new ProtocolError("invalid_path", { field, path, reason: "it has to be absolute" });
  }
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) return;
  throw new ProtocolError("invalid_path", { field, path, reason: `there is no folder ${folder}` });
}

/** How much of a session file is read to find the session's folder. */
const HEADER_BYTES = 64 * 1024;

function storedFolder(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const buffer = Buffer.alloc(HEADER_BYTES);
  try {
    const file = openSync(path, "r");
    const text = buffer.toString("utf8", 0, readSync(file, buffer));
    closeSync(file);
    const { cwd }: { cwd?: unknown } = JSON.parse(text.split("\n", 1)[0] ?? "");
    return typeof cwd === "string" && statSync(cwd).isDirectory() ? cwd : undefined;
  } catch {
    // Opening the session reports the error.
    return undefined;
  }
}

function environmentOf({ environment }: Asked, host: ProcessEnvironment): ProcessEnvironment {
  // Sessions share the host's variables, unless they have their own.
  if (environment === undefined) return host;
  const variables = { ...host.variables };
  for (const [name, value] of Object.entries(environment)) {
    if (value === null) delete variables[name];
    else variables[name] = value;
  }
  return { ...host, ...environmentFrom(variables) };
}

/** The options of a session: the client's parameters override the command line of the host. */
function optionsOf(asked: Asked, { options, environment }: SessionDefaults): CliOptions {
  const { provider, modelId, fallbackModels, thinkingLevel, apiKey, approve, cwd, workspace } =
    asked;
  const isOtherProvider = provider !== undefined && provider !== options.provider;
  const isStart = workspace === undefined && (cwd === undefined || isSame(cwd, environment.cwd));
  return {
    ...options,
    provider: provider ?? options.provider,
    model: modelId ?? (isOtherProvider ? undefined : options.model),
    fallbackModel: fallbackModels ?? options.fallbackModel,
    thinking: thinkingLevel ?? options.thinking,
    resumeInterrupted: asked.resume === "auto" || options.resumeInterrupted,
    apiKey: apiKey ?? (isOtherProvider ? undefined : options.apiKey),
    // The flag is for the folder in which the host was started.
    approve: approve ?? (isStart ? options.approve : undefined),
    noApprove: approve === undefined ? options.noApprove : !approve,
    mode: "rpc",
  } as CliOptions;
}

function isSame(path: string, other: string): boolean {
  return path === other || realPath(path) === realPath(other);
}

function placesOf(
  { cwd, workspace, sessionPath, durableSessionId, projectKey, secrets }: Asked,
  { options, environment }: SessionDefaults,
  { agentDirectory = "", session, sessionDirectory, ...created }: CreateAgentSessionOptions,
): Partial<CreateAgentSessionOptions> {
  const start = startOf({ cwd, sessionPath, durableSessionId }) ?? session;
  const directory =
    projectKey === undefined || (options.store ?? environment.store) !== undefined
      ? sessionDirectory
      : join(agentDirectory, "sessions", projectKey);
  return {
    // The command line's folder is a folder of the command line's workspace.
    cwd: cwd ?? (workspace === undefined ? created.cwd : undefined),
    ...(workspace === undefined ? {} : { workspace, isWorkspaceOfClient: true }),
    ...(start === undefined ? {} : { session: start }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(directory === undefined ? {} : { sessionDirectory: directory }),
    // In a store, the name that is otherwise a folder of files names the project.
    ...(projectKey === undefined ? {} : { projectKey }),
  };
}

function startOf({
  cwd,
  sessionPath,
  durableSessionId,
}: Pick<Asked, "cwd" | "sessionPath" | "durableSessionId">): SessionStart | undefined {
  if (sessionPath !== undefined) {
    return { kind: "file", path: sessionPath, goesToItsFolder: cwd === undefined };
  }
  return durableSessionId === undefined ? undefined : { kind: "id", id: durableSessionId };
}
