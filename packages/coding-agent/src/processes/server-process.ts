import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../base/files/file-error.ts";
import { ProcessError } from "./process-error.ts";
import { hasProcessGroups } from "./process-group.ts";
import type { PlannedChild, ProcessRegistry } from "./process-registry.ts";
import type { EnclosedCommand, PlainCommand, Sandbox } from "./sandbox.ts";
import { startInside } from "./start-inside.ts";
import { StartWatch, startPipe } from "./start-watch.ts";

/** A child that serves until it is stopped, in a process group of its own. */
export interface ServerRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly processes: ProcessRegistry;
  /** Keeps the child and all that it starts inside. */
  readonly sandbox?: Sandbox | undefined;
}

/** What belongs to a child. */
interface Owned {
  readonly planned: PlannedChild;
  readonly processes: ProcessRegistry;
  /** Takes away what its sandbox made. */
  readonly release: () => Promise<void>;
}

/** A running child with pipes to all its streams. */
export class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #owned: Owned;
  /** Fulfilled with how it ended, in words, once nothing of it is left. */
  readonly ended: Promise<string>;
  #hasEnded = false;

  /**
   * Starts a child; one in a sandbox has begun when the promise resolves.
   *
   * @throws {ProcessError} the child could not be started
   */
  static async start(request: ServerRequest): Promise<ServerProcess> {
    const planned = request.processes.prepare(request.variables);
    const { file, args, cwd } = request;
    const plain = { file, args, cwd, variables: planned.variables };
    const { sandbox } = request;
    if (sandbox === undefined) return ServerProcess.#spawn(plain, request, planned);
    return startInside(sandbox, plain, (enclosed) => {
      return ServerProcess.#spawn(enclosed, request, planned);
    });
  }

  static async #spawn(
    command: PlainCommand & Partial<EnclosedCommand>,
    request: ServerRequest,
    planned: PlannedChild,
  ): Promise<ServerProcess> {
    const { release = async () => {} } = command;
    let server: ServerProcess;
    let watch: StartWatch | undefined;
    try {
      const child = spawn(command.file, command.args, {
        cwd: command.cwd,
        env: command.variables,
        detached: hasProcessGroups,
        stdio: ["pipe", "pipe", "pipe", ...startPipe(command)],
        windowsHide: true,
      }) as ChildProcessWithoutNullStreams;
      // Listen at once: a missing program is reported before any promise continues.
      await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
      server = new ServerProcess(child, { planned, release, processes: request.processes });
      watch = StartWatch.of(child, command);
    } catch (error) {
      await release();
      throw await startError(error, request);
    }
    if (watch === undefined || (await watch.begun)) return server;
    for await (const chunk of server.stderr) watch.keep(chunk);
    await server.ended;
    // It may have been killed, as the host ends.
    if (server.#child.exitCode === null) return server;
    throw watch.failure();
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
        // What it started does not outlive it.
        this.#kill();
      });
    });
    this.ended = exited.then(async (how) => {
      try {
        await owned.release();
        return how;
      } catch (error) {
        return `${how}; what its sandbox made is left: ${errorMessage(error)}`;
      }
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
