import { constants, copyFileSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import process, { env, execPath } from "node:process";

/** Folders that a sandbox replaces with its own. */
const hidden = /^\/(?:tmp|dev\/shm)\//;

/**
 * Makes this Node.js available to commands in a sandbox if the checkout, and with it `node_modules`, is in a
 * folder that sandboxes hide: puts a copy in a visible folder first on the `PATH` until the run ends.
 */
export function showNode(): void {
  if (process.platform !== "linux" || !hidden.test(realpathSync(execPath))) return;
  const folder = mkdtempSync("/var/tmp/tau-node-");
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(execPath, join(folder, "node"), constants.COPYFILE_FICLONE);
  env.PATH = [folder, env.PATH].join(delimiter);
}
