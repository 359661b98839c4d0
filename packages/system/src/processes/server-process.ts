import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../base/files/error-code.ts";
import type { ProcessRequest } from "./process.ts";
import { ProcessError, type SandboxStartError } from "./process-error.ts";
import { hasProcessGroups } from "./process-group.ts";
import type { PlannedChild, ProcessRegistry } from "./process-registry.ts";
import type { EnclosedCommand, PlainCommand } from "./sandbox.ts";
import { withShellLevel } from "./shell-level.ts";
import { StartStatus, statusPipe } from "./start-status.ts";

/** A server to run in its own process group until it is stopped. */
export interface ServerRequest
  extends Pick<ProcessRequest, "file" | "args" | "variables" | "processes" | "sandbox"> {
  readonly cwd: string;
}

interface Owned {
  readonly planned: PlannedChild;
  readonly processes: ProcessRegistry;
  readonly status: StartStatus | undefined;
  /** Removes what its sandbox made. */
  readonly release: () => Promise<void>;
}

/** A running child with pipes to all its streams. */
export class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #owned: Owned;
  /** Fulfilled with the way it ended, in words, once all its processes are gone. */
  readonly ended: Promise<string>;
  #hasEnded = false;

  /** @throws {ProcessError} the child could not be started */
  static async start(request: ServerRequest): Promise<ServerProcess> {
    const planned = request.processes.prepare(withShellLevel(request.variables));
    const { file, args, cwd } = request;
    const plain = { file, args, cwd, variables: planned.variables };
    const enclosed = await request.sandbox?.enclose(plain);
    const command: PlainCommand & Partial<EnclosedCommand> = enclosed ?? plain;
    const release = async () => enclosed?.release();
    try {
      const child = spawn(command.file, command.args, {
        cwd: command.cwd,
        env: command.variables,
        detached: hasProcessGroups,
        stdio: ["pipe", "pipe", "pipe", ...statusPipe(command)],
        windowsHide: true,
      }) as ChildProcessWithoutNullStreams;
      // Listen immediately: a missing program is reported before any promise continues.
      await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
      const status = StartStatus.of(child, command);
      const { processes } = request;
      return new ServerProcess(child, { planned, processes, status, release });
    } catch (error) {
      await release();
      throw await startError(error, request);
    }
  }

  private constructor(child: ChildProcessWithoutNullStreams, owned: Owned) {
    this.#child = child;
    this.#owned = owned;
    if (child.pid !== undefined) owned.processes.add(child.pid);
    // Writing to a child that has ended fails; its end is reported anyway.
    child.stdin.on("error", () => {});
    child.on("error", () => {});
    const exited = new Promise<string>((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasEnded = true;
        resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
        // Its descendants must not outlive it.
        this.#kill();
      });
    });
    this.ended = exited.then(async (how) => {
      await owned.status?.end();
      try {
        await owned.release();
        return how;
      } catch (error) {
        return `${how}; its sandbox could not be taken down: ${errorMessage(error)}`;
      }
    });
  }

  /**
   * Why the server never ran, once it has ended; undefined if it ran.
   *
   * @param errors the output on stderr, from its beginning
   */
  startFailure(errors: string): SandboxStartError | undefined {
    return this.#owned.status?.failureOf(this.#child.exitCode, errors);
  }

  get stdout() {
    return this.#child.stdout;
  }

  get stderr() {
    return this.#child.stderr;
  }

  /** Resolves once the child can accept more input. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.stdin.write(text, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  /** Ends the input, and kills the child with all its descendants if it does not end in time. */
  async stop(graceMs: number): Promise<void> {
    this.#child.stdin.end();
    const timer = setTimeout(() => {
      if (!this.#hasEnded) this.#kill();
    }, graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    const { planned, processes } = this.#owned;
    processes.kill(pid, planned);
    if (this.#hasEnded) processes.leaderEnded(pid);
  }
}

export async function startError(
  error: unknown,
  { file, cwd }: Pick<ServerRequest, "file" | "cwd">,
): Promise<ProcessError> {
  const options = { cause: error };
  const code = errorCode(error);
  // The system reports a missing directory as if the program were missing.
  const folder = await stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory()) {
    return new ProcessError("cwd_missing", `the folder ${cwd} does not exist`, options);
  }
  if (code === "ENOENT") {
    return new ProcessError("not_found", `the program ${file} was not found`, options);
  }
  if (code === "EACCES") {
    return new ProcessError("not_executable", `${file} is not executable`, options);
  }
  const reason = remedyOfLimit(error) ?? errorMessage(error);
  return new ProcessError("spawn_failed", `cannot start ${file}: ${reason}`, options);
}
