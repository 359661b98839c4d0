import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../base/files/file-error.ts";
import { ProcessError } from "./process-error.ts";
import { hasProcessGroups } from "./process-group.ts";
import type { PlannedChild, ProcessRegistry } from "./process-registry.ts";

/** A child that serves until it is stopped, in a process group of its own. */
export interface ServerRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly processes: ProcessRegistry;
}

/** A running child with pipes to all its streams. */
export class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #planned: PlannedChild;
  readonly #processes: ProcessRegistry;
  /** Fulfilled with how it ended, in words. */
  readonly ended: Promise<string>;
  #hasEnded = false;

  /** @throws {ProcessError} the child could not be started */
  static async start(request: ServerRequest): Promise<ServerProcess> {
    const planned = request.processes.prepare(request.variables);
    try {
      const { file, args, cwd } = request;
      const child = spawn(file, args, {
        cwd,
        env: planned.variables,
        detached: hasProcessGroups,
        stdio: "pipe",
        windowsHide: true,
      });
      // Listen at once: a missing program is reported before any promise continues.
      await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
      return new ServerProcess(child, planned, request.processes);
    } catch (error) {
      throw await startError(error, request);
    }
  }

  private constructor(
    child: ChildProcessWithoutNullStreams,
    planned: PlannedChild,
    processes: ProcessRegistry,
  ) {
    this.#child = child;
    this.#planned = planned;
    this.#processes = processes;
    if (child.pid !== undefined) processes.add(child.pid);
    // Writing to a child that has ended fails; its end is reported anyway.
    child.stdin.on("error", () => {});
    child.on("error", () => {});
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasEnded = true;
        resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
        // What it started does not outlive it.
        this.#kill();
      });
    });
  }

  get stdout() {
    return this.#child.stdout;
  }

  get stderr() {
    return this.#child.stderr;
  }

  /** Resolves once the child can take more. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.stdin.write(text, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  /** Ends its input, and kills it with all that came from it when it does not end in time. */
  async stop(graceMs: number): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#kill(), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    this.#processes.kill(pid, this.#planned);
    if (this.#hasEnded) this.#processes.leaderEnded(pid);
  }
}

async function startError(error: unknown, { file, cwd }: ServerRequest): Promise<ProcessError> {
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
