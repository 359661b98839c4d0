import { ToolError } from "@tau-agent/agent";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";

/** Lines of `sh` to run in a workspace; each run is one round trip. */
export interface ScriptThere {
  readonly workspace: Pick<Workspace, "spawn">;
  readonly cwd: string;
  readonly script: string;
  /** The values of `$1` and so on. */
  readonly words?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string | null>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface OutputThere {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const TIMEOUT_MS = 10 * 60_000;
const STDERR_TAIL = 2000;

/**
 * Runs lines that must succeed.
 *
 * @throws {ToolError} with the last line of output; {WorkspaceError} if the workspace cannot be reached
 */
export async function runThere(request: ScriptThere): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await tryThere(request);
  if (exitCode === 0) return stdout;
  const reason = stderr.trim().slice(-STDERR_TAIL) || `it ended with exit code ${exitCode}`;
  throw new ToolError(`git in the workspace, in ${request.cwd}: ${reason}`);
}

/** Runs lines that may fail. */
export async function tryThere(request: ScriptThere): Promise<OutputThere> {
  const { workspace, cwd, script, words = [], environment = {}, signal } = request;
  const output = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const { done } = await workspace.spawn({
    command: ["sh", "-c", script, "tau", ...words],
    cwd,
    environment: { ...gitVariables, ...environment },
    timeoutMs: TIMEOUT_MS,
    signal,
    onOutput: (bytes, stream) => void output[stream].push(bytes),
  });
  const { exitCode, timedOut } = await done;
  if (timedOut) throw new ToolError(`git in the workspace took too long in ${cwd}`);
  const stderr = Buffer.concat(output.stderr).toString("utf8");
  return { exitCode, stdout: Buffer.concat(output.stdout), stderr };
}

/** Neither the user's nor the project's configuration may start programs or change bytes. */
const gitVariables: Readonly<Record<string, string | null>> = {
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_COUNT: null,
  GIT_CONFIG_PARAMETERS: null,
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_LFS_SKIP_SMUDGE: "1",
  GIT_DIR: null,
  GIT_WORK_TREE: null,
  GIT_INDEX_FILE: null,
  GIT_OBJECT_DIRECTORY: null,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: null,
  GIT_AUTHOR_NAME: "Tau",
  GIT_AUTHOR_EMAIL: "tau@localhost",
  GIT_COMMITTER_NAME: "Tau",
  GIT_COMMITTER_EMAIL: "tau@localhost",
};

/** The parts of a NUL-terminated list, one character per byte. */
export function namesIn(output: Buffer): string[] {
  return output.toString("latin1").split("\0").slice(0, -1);
}

/** A list for programs that read NUL-terminated names. */
export function listOf(names: Iterable<string>): Buffer {
  return Buffer.from([...names].map((name) => `${name}\0`).join(""), "latin1");
}
