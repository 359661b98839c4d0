import nodePath, { posix, win32 } from "node:path";
import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceExit,
} from "@tau-agent/rpc-protocol/workspace";
import { isTimed, LocalWorkspace, type ToolEnvironment } from "@tau-agent/system";
import type { ExecOptions, ExecResult } from "../api/api.ts";
import { reasonOf } from "../api/errors.ts";

export interface ExecEnvironment
  extends Pick<ToolEnvironment, "cwd" | "environment" | "processes" | "sandbox"> {
  /** The project's location if it is remote: programs run there, without variables of this machine. */
  readonly elsewhere?:
    | { readonly workspace: Pick<Workspace, "spawn">; readonly isWindows: boolean }
    | undefined;
}

const defaultMaxBytes = 10 * 1024 * 1024;

/**
 * Runs a program where the tools of the session act, and returns its output. Timeout and abort end it with everything
 * it started. Never rejects: if it cannot be started, the code is 1 and `stderr` has the reason.
 */
export async function execCommand(
  environment: ExecEnvironment,
  command: { readonly file: string; readonly args: readonly string[] },
  options: ExecOptions = {},
): Promise<ExecResult> {
  const output = { stdout: new Capture(options.maxBuffer), stderr: new Capture(options.maxBuffer) };
  const result = (code: number, killed: boolean): ExecResult => ({
    stdout: output.stdout.text(),
    stderr: output.stderr.text(),
    code,
    killed,
    truncated: output.stdout.isTruncated || output.stderr.isTruncated,
  });
  const { signal, timeout } = options;
  const { path, workspace } = placeOf(environment);
  try {
    const running = await workspace.spawn({
      command: [command.file, ...command.args],
      cwd: path.resolve(environment.cwd, options.cwd ?? "."),
      environment: changesOf(options.env),
      onOutput: (bytes, stream) => output[stream].add(bytes),
      signal,
      timeoutMs: isTimed(timeout) ? timeout : undefined,
    });
    const exit = await running.done;
    return result(exit.exitCode ?? 1, isKilled(exit, signal));
  } catch (error) {
    if (isWorkspaceError(error, "aborted")) return result(1, true);
    const failed = result(1, false);
    return { ...failed, stderr: failed.stderr + reasonOf(error) };
  }
}

function placeOf({ elsewhere, ...here }: ExecEnvironment) {
  if (elsewhere === undefined) return { path: nodePath, workspace: new LocalWorkspace(here) };
  return { path: elsewhere.isWindows ? win32 : posix, workspace: elsewhere.workspace };
}

/** Whether the program was ended by its timeout or signal rather than by itself. */
function isKilled({ exitCode, timedOut }: WorkspaceExit, signal: AbortSignal | undefined): boolean {
  return timedOut === true || (exitCode === null && signal?.aborted === true);
}

/** Keeps the beginning of a stream, in bounded memory. */
class Capture {
  readonly #maxBytes: number;
  readonly #pieces: Buffer[] = [];
  #sizeBytes = 0;
  isTruncated = false;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    const room = this.#maxBytes - this.#sizeBytes;
    if (chunk.length > room) this.isTruncated = true;
    if (room <= 0) return;
    const piece = Buffer.from(chunk.subarray(0, room));
    this.#pieces.push(piece);
    this.#sizeBytes += piece.length;
  }

  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#pieces), { stream: this.isTruncated });
  }
}

/** Changes to the variables of the place; a variable without a value is removed. */
function changesOf(variables: ExecOptions["env"] = {}): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value ?? null]),
  );
}
