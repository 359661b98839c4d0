import { resolve } from "node:path";
import { exportSession } from "@tau-agent/coding-agent";
import { CodedError } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { OneShotOptions } from "./one-shot.ts";

/**
 * Writes the trajectory once the run has ended, whatever its result.
 *
 * @param warn - reports a failure on stderr, even after a signal
 * @returns the exit code: failing to write the trajectory counts as a failure
 */
export async function withTrajectory(
  run: Promise<number>,
  task: Pick<OneShotOptions, "session" | "options" | "cwd">,
  warn: (text: string) => void,
): Promise<number> {
  const file = task.options.trajectoryFile;
  if (file === undefined) return run;
  const write = async (): Promise<number> => {
    try {
      const outputPath = resolve(task.cwd, file);
      await exportSession(task.session, { format: "atif", outputPath });
      return 0;
    } catch (error) {
      // A refused prompt has already been reported, and the session is empty.
      const isEmpty = error instanceof CodedError && error.code === "nothing_to_export";
      warn(`${isEmpty ? "warning" : "error"}: no trajectory was written: ${errorMessage(error)}`);
      return 1;
    }
  };
  const exitCode = await run.catch(async (error: unknown) => {
    await write();
    throw error;
  });
  return Math.max(exitCode, await write());
}
