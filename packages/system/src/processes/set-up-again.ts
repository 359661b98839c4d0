import { setTimeout as pause } from "node:timers/promises";
import { ProcessError, SandboxStartError } from "./process-error.ts";

/** What comes and goes is rarely there each time; a try takes 10 to 50 ms. */
const TRY_FOR_MS = 3_000;
const MIN_TRIES = 3;
/** So that tries do not keep in step with what disturbs them. */
const MAX_PAUSE_MS = 20;

/**
 * Tries to start what runs in a sandbox, again if the sandbox could not be set up: meanwhile other programs
 * make and remove what it shows or closes, such as their sockets.
 *
 * @param start plans and starts it; {@link SandboxStartError} means that it never ran
 * @throws {ProcessError} `sandbox_unavailable`: no try could set it up
 */
export async function setUpAgain<T>(start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const deadline = performance.now() + TRY_FOR_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof SandboxStartError)) throw error;
      const isLast = tries >= MIN_TRIES && performance.now() > deadline;
      // One that is aborted says so itself.
      if (isLast && !signal?.aborted) throw failure(tries, error);
    }
    await pause(Math.random() * MAX_PAUSE_MS);
  }
}

function failure(tries: number, cause: SandboxStartError): ProcessError {
  const text = `Not run: the sandbox could not be set up in ${tries} tries: ${cause.message}. Check the path that this names.`;
  return new ProcessError("sandbox_unavailable", text, { cause });
}
