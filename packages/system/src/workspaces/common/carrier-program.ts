import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { cwd, env } from "node:process";
import type { Readable } from "node:stream";
import { keyVariableNames } from "../../keys/environment-keys.ts";
import { processEnvironment } from "../../processes/process-environment.ts";
import { hasProcessGroups } from "../../processes/process-group.ts";
import type { PlannedChild, ProcessRegistry } from "../../processes/process-registry.ts";
import { startError } from "../../processes/server-process.ts";
import { withShellLevel } from "../../processes/shell-level.ts";
import type { CarrierOptions } from "./carrier-options.ts";
import { LastLine } from "./last-line.ts";

export interface CarrierRequest
  extends Pick<CarrierOptions, "environment" | "keyVariables" | "namedVariables"> {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  readonly processes: ProcessRegistry;
}

/** A program on this machine through which a workspace is reached. */
export class CarrierProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #planned: PlannedChild;
  readonly #processes: ProcessRegistry;
  readonly #errors = new LastLine();
  readonly #dropped = new LastLine();
  #hasEnded = false;
  /** Fulfilled with how it ended, in words. What it started may still hold its pipes. */
  readonly ended: Promise<string>;

  /**
   * Starts a program as children of `bash` are started, without keys.
   *
   * @throws {ProcessError} it could not be started
   */
  static async start(request: CarrierRequest): Promise<CarrierProgram> {
    const [file = "", ...args] = request.argv;
    const planned = request.processes.prepare(withShellLevel(carrierVariables(request)));
    try {
      const child = spawn(file, args, {
        env: planned.variables,
        detached: hasProcessGroups,
        stdio: "pipe",
        windowsHide: true,
      });
      // Listen at once: a missing program is reported before any promise continues.
      await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
      return new CarrierProgram(child, planned, request.processes);
    } catch (error) {
      throw await startError(error, { file, cwd: cwd() });
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
    const { pid, stdin, stdout, stderr } = child;
    if (pid !== undefined) processes.add(pid);
    for (const each of [child, stdin, stdout, stderr]) each.on("error", () => {});
    stderr.on("data", (chunk: Buffer) => this.#errors.push(chunk));
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasEnded = true;
        if (pid !== undefined) processes.leaderEnded(pid);
        resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
      });
    });
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  get stderr(): Readable {
    return this.#child.stderr;
  }

  /** Resolves once the program can take more, or takes nothing any more. */
  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#child.stdin.write(bytes, () => resolve());
    });
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  /** Notes what it printed that was not meant for the host. */
  drop(bytes: Uint8Array): void {
    this.#dropped.push(bytes);
  }

  /** What it said last: of errors, else of what was dropped. */
  lastLine(): string | undefined {
    return this.#errors.text ?? this.#dropped.text;
  }

  /** Kills it with all that came from it. */
  stop(): void {
    const { pid, stdin, stdout, stderr } = this.#child;
    if (pid !== undefined) {
      this.#processes.kill(pid, this.#planned);
      if (this.#hasEnded) this.#processes.leaderEnded(pid);
    }
    // What left its group may hold the pipes.
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
  }
}

function carrierVariables(request: CarrierRequest): Record<string, string> {
  const { environment = env, keyVariables = [...keyVariableNames()], namedVariables } = request;
  // It may contain a password.
  const { TAU_STORE: _, ...rest } = environment;
  return processEnvironment({ environment: rest, keyVariables, namedVariables });
}
