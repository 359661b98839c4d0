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

/**
 * Starts a program without keys in its environment, like the commands of `bash`.
 *
 * @throws {ProcessError} the program could not be started
 */
export async function startCarrierProgram(request: CarrierRequest): Promise<CarrierProgram> {
  const [file = "", ...args] = request.argv;
  const planned = request.processes.prepare(withShellLevel(carrierVariables(request)));
  try {
    const child = spawn(file, args, {
      env: planned.variables,
      detached: hasProcessGroups,
      stdio: "pipe",
      windowsHide: true,
    });
    // Listen immediately: a missing program is reported before any promise continues.
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    return createCarrierProgram(child, planned, request.processes);
  } catch (error) {
    throw await startError(error, { file, cwd: cwd() });
  }
}

/** A program on this machine through which a workspace is reached. */
function createCarrierProgram(
  child: ChildProcessWithoutNullStreams,
  planned: PlannedChild,
  processes: ProcessRegistry,
) {
  const errors = new LastLine();
  const dropped = new LastLine();
  let hasEnded = false;
  const { pid, stdin, stdout, stderr } = child;
  if (pid !== undefined) processes.add(pid);
  for (const each of [child, stdin, stdout, stderr]) each.on("error", () => {});
  stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  /** Fulfilled with the way it ended, in words. Its descendants may still hold its pipes. */
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      hasEnded = true;
      if (pid !== undefined) processes.leaderEnded(pid);
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });

  return {
    ended,
    stdout: stdout as Readable,
    stderr: stderr as Readable,
    /** Resolves once the program can accept more input, or none any more. */
    write(bytes: string | Uint8Array): Promise<void> {
      return new Promise((resolve) => {
        stdin.write(bytes, () => resolve());
      });
    },
    endInput(): void {
      stdin.end();
    },
    /** Notes output that was not meant for the host. */
    drop(bytes: Uint8Array): void {
      dropped.push(bytes);
    },
    /** The last line of output: from stderr, otherwise from the dropped output. */
    lastLine(): string | undefined {
      return errors.text ?? dropped.text;
    },
    /** Kills the program with all its descendants. */
    stop(): void {
      if (pid !== undefined) {
        processes.kill(pid, planned);
        if (hasEnded) processes.leaderEnded(pid);
      }
      // Processes that left the group may still hold the pipes.
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
  };
}

export type CarrierProgram = ReturnType<typeof createCarrierProgram>;

function carrierVariables(request: CarrierRequest): Record<string, string> {
  const { environment = env, keyVariables = [...keyVariableNames()], namedVariables } = request;
  // The text may contain a password.
  const { TAU_STORE: _, ...rest } = environment;
  return processEnvironment({ environment: rest, keyVariables, namedVariables });
}
