import { rm, stat } from "node:fs/promises";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { isInside } from "@tau-agent/system";

/** git locks a ref for milliseconds: an older lock was left by a killed git. */
const STALE_MS = 2_000;
const PAUSE_MS = 100;
/** Enough for a stale lock on each ref of a call. */
const TRIES = 60;

/**
 * Runs a git command in a repository that only hosts write to. A killed host may have left a lock there:
 * this waits for the lock, and removes it once it is stale.
 *
 * @throws {ToolError} the command failed for another reason, or the lock stays
 */
export async function passStaleLock(gitDir: string, run: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await run();
      return;
    } catch (error) {
      const [, lock = ""] =
        /Unable to create '(.+\.lock)': File exists/.exec(errorMessage(error)) ?? [];
      if (!isInside(gitDir, lock) || tries === TRIES) throw error;
      const found = await stat(lock).catch(() => undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > STALE_MS)
        await rm(lock, { force: true });
      else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
