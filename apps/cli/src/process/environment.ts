import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import { findHomeDirectory } from "@tau-agent/system";

/** Everything that the process supplies to the host; no other code reads it. */
export interface ProcessEnvironment {
  readonly cwd: string;
  readonly program: readonly string[];
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  readonly agentDirectory: string;
  readonly sessionDirectory: string | undefined;
  /** The key that a subagent's host received from its parent host. */
  readonly subagentKey?: string | undefined;
  readonly subagentSandbox?: unknown;
  readonly subagentDiagnostics?: unknown;
  readonly secretFiles?: readonly string[] | undefined;
  readonly sessionHandle?: string | undefined;
  readonly store?: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** The variable that passes a key to the hosts of subagents; no other process receives it. */
export const SUBAGENT_KEY = "TAU_SUBAGENT_KEY";

/** The variable that passes a sandbox to the hosts of subagents. */
export const SUBAGENT_SANDBOX = "TAU_SUBAGENT_SANDBOX";

/** The variable that passes the configuration of diagnostics to the hosts of subagents. */
export const SUBAGENT_DIAGNOSTICS = "TAU_SUBAGENT_DIAGNOSTICS";

/** The variable that passes the paths of files with keys to the hosts of subagents. */
export const SECRET_FILES = "TAU_SECRET_FILES";

/** Variable with the handle of the one session that a host serves for another host. */
export const SESSION_HANDLE = "TAU_SESSION_HANDLE";

/**
 * Reads the environment once.
 *
 * @throws {ProtocolError} `invalid_option` when the working directory is gone
 */
export function readEnvironment(): ProcessEnvironment {
  const {
    [SUBAGENT_KEY]: subagentKey,
    [SUBAGENT_SANDBOX]: sandbox,
    [SUBAGENT_DIAGNOSTICS]: diagnostics,
    [SECRET_FILES]: secretFiles,
    [SESSION_HANDLE]: sessionHandle,
    TAU_STORE: store,
    TAU_REDIS: _redis,
    ...variables
  } = process.env;
  // They may contain passwords, and commands that extensions start inherit this process's environment.
  delete process.env.TAU_STORE;
  delete process.env.TAU_REDIS;
  // An editor built on Electron sets this variable to run the host as Node; commands must not inherit it.
  if (process.versions.electron !== undefined) delete variables.ELECTRON_RUN_AS_NODE;
  return {
    cwd: workingDirectory(),
    program: [process.execPath, process.argv[1] ?? ""],
    ...environmentFrom(variables),
    subagentKey,
    ...(diagnostics ? { subagentDiagnostics: JSON.parse(diagnostics) as unknown } : {}),
    ...(sandbox ? { subagentSandbox: JSON.parse(sandbox) as unknown } : {}),
    ...(secretFiles ? { secretFiles: JSON.parse(secretFiles) as string[] } : {}),
    sessionHandle,
    store: store || undefined,
  };
}

export function environmentFrom(
  variables: ProcessEnvironment["variables"],
): Omit<
  ProcessEnvironment,
  | "cwd"
  | "program"
  | "subagentKey"
  | "subagentSandbox"
  | "subagentDiagnostics"
  | "sessionHandle"
  | "store"
> {
  const homeDirectory = variables.HOME || findHomeDirectory();
  const agentDirectory = variables.PI_CODING_AGENT_DIR;
  const sessionDirectory = variables.PI_CODING_AGENT_SESSION_DIR;
  return {
    homeDirectory,
    temporaryDirectory: tmpdir(),
    agentDirectory: agentDirectory
      ? resolve(expandHome(agentDirectory, homeDirectory))
      : join(homeDirectory, ".pi", "agent"),
    sessionDirectory: sessionDirectory
      ? resolve(expandHome(sessionDirectory, homeDirectory))
      : undefined,
    variables,
  };
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const reason = "it does not exist any more or cannot be read; start from another one";
    const values = { option: "working directory", reason };
    throw new ProtocolError("invalid_option", values, { cause });
  }
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}
