import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../../../base/files/read-text.ts";
import { nobodys } from "../../../processes/process-owners.ts";

/** Where systems have their commands; the last one is NixOS. */
const systemPath = "/usr/bin:/bin:/run/current-system/sw/bin";

/**
 * Removes a folder with all that is in it, also where something in it may not be written. The
 * system's own `rm` takes a fifth of the time that Node takes; it goes on when this process ends
 * meanwhile, or after `maxWaitMs`, when this is fulfilled at the latest.
 */
export async function removeFolder(path: string, maxWaitMs?: number): Promise<void> {
  const removal = remove(path);
  if (maxWaitMs === undefined) return removal;
  const waited = new AbortController();
  await Promise.race([removal, sleep(maxWaitMs, undefined, waited).catch(() => undefined)]);
  waited.abort();
}

async function remove(path: string): Promise<void> {
  if (process.platform !== "win32") {
    if (await runDetached("rm", ["-rf", "--", path])) return;
    await runDetached("chmod", ["-R", "u+rwX", "--", path]);
  }
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
    // Two that remove the same folder are in each other's way; what stays is found at the next start.
    if (errorCode(error) !== "ENOTEMPTY") throw error;
  });
}

/** Whether the command said that it succeeded. */
function runDetached(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { PATH: systemPath, ...nobodys };
    const child = spawn(command, args, { env, detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}
