import { mkdirSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "./read-text.ts";

// Node's own recursive mkdir never ends where a file system makes no folders and calls that a folder
// which is missing, as /proc does: it looks for the one above, which is there, and tries again.

/**
 * Makes a folder and those above it that are missing; a folder that is there stays as it is. Rejects
 * with what the system says when it cannot be made.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (isMissingAbove(path, error)) {
      await makeFolder(dirname(path), mode);
      await mkdir(path, mode).catch((reason: unknown) => refuseUnlessFolder(path, reason));
    } else refuseUnlessFolder(path, error);
  }
}

/** {@link makeFolder} without leaving the thread. */
export function makeFolderNow(path: string, mode?: number): void {
  const make = (whenMissingAbove: () => void) => {
    try {
      mkdirSync(path, mode);
    } catch (error) {
      if (isMissingAbove(path, error)) whenMissingAbove();
      else refuseUnlessFolder(path, error);
    }
  };
  make(() => {
    makeFolderNow(dirname(path), mode);
    make(() => mkdirSync(path, mode));
  });
}

function isMissingAbove(path: string, error: unknown): boolean {
  return errorCode(error) === "ENOENT" && dirname(path) !== path;
}

/** Somebody else may have made it; many systems refuse to make what is there with other words. */
function refuseUnlessFolder(path: string, error: unknown): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
}
