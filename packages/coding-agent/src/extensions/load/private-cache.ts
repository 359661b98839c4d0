import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolderNow } from "@tau-agent/system";

/**
 * Makes the folder of compiled extensions accessible to the user only, whatever the umask is,
 * because its files are executed. A folder that others could write to is emptied.
 *
 * @returns whether the folder can be used
 */
export function openPrivateCache(folder: string): boolean {
  try {
    makeFolderNow(folder, 0o700);
    const { mode, uid } = lstatSync(folder);
    const user = process.geteuid?.();
    if (user === undefined) return true;
    if (uid !== user || !lstatSync(folder).isDirectory()) return false;
    if ((mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
    if ((mode & 0o022) !== 0) {
      for (const name of readdirSync(folder)) {
        rmSync(join(folder, name), { recursive: true, force: true });
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** Removes other users' permissions from the files that the compiler has written. */
export function closePrivateCache(folder: string): void {
  if (process.geteuid === undefined) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isFile() && (stats.mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  }
}
