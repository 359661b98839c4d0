import { setTimeout as pause } from "node:timers/promises";
import { ProcessError, SandboxStartError } from "./process-error.ts";
import type { EnclosedCommand, PlainCommand, Sandbox } from "./sandbox.ts";

/** A try takes 10 to 50 ms, and what comes and goes is rarely there each time. */
const TRY_FOR_MS = 2_000;
/** So that tries do not keep in step with what disturbs them. */
const MAX_PAUSE_MS = 20;

/**
 * Starts a command in a sandbox. While that is set up, other programs make and remove what it shows or closes,
 * such as their sockets. The command has not run then, so the sandbox is planned and started again.
 *
 * @param start throws {@link SandboxStartError} if the command did not run
 * @throws {ProcessError} `sandbox_unavailable`: no try could set it up
 */
export async function startInside<T>(
  sandbox: Sandbox,
  command: PlainCommand,
  start: (enclosed: EnclosedCommand) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + TRY_FOR_MS;
  for (;;) {
    try {
      return await start(await sandbox.enclose(command));
    } catch (error) {
      if (!(error instanceof SandboxStartError)) throw error;
      if (performance.now() > deadline) {
        const text = `Not run: the sandbox could not be set up, although it was tried for ${TRY_FOR_MS / 1000} seconds: ${error.message}. Look at what this names, and run the command again.`;
        throw new ProcessError("sandbox_unavailable", text, { cause: error });
      }
    }
    await pause(Math.random() * MAX_PAUSE_MS);
  }
}
