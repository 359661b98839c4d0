import { setTimeout as pause } from "node:timers/promises";
import { ProcessError, SandboxStartError } from "./process-error.ts";

/** Short-lived files are rarely there at every attempt; an attempt takes 10 to 50 ms. */
const TRY_FOR_MS = 3_000;
const MIN_TRIES = 3;
/** A random pause, so that attempts do not stay in step with the disturbance. */
const MAX_PAUSE_MS = 20;

/**
 * Starts something in a sandbox, and tries again if the sandbox could not be set up: other programs may
 * make and remove files that it mounts meanwhile, such as their sockets.
 *
 * @param start plans and starts the run; {@link SandboxStartError} means that it never ran
 * @throws {ProcessError} `sandbox_unavailable`: no attempt could set up the sandbox
 */
export async function setUpAgain<T>(start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const deadline = performance.now() + TRY_FOR_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof SandboxStartError)) throw error;
      const isLast = tries >= MIN_TRIES && performance.now() > deadline;
      // An aborted start throws its own error.
      if (isLast && !signal?.aborted) throw failure(tries, error);
    }
    await pause(Math.random() * MAX_PAUSE_MS);
  }
}

function failure(tries: number, cause: SandboxStartError): ProcessError {
  const text = `Not run: the sandbox could not be set up in ${tries} tries: ${cause.message}. Check the path that this names.`;
  return new ProcessError("sandbox_unavailable", text, { cause });
}
