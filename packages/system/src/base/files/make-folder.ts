import { mkdirSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "./error-code.ts";

// Node's recursive mkdir loops forever on file systems such as /proc that refuse folders with
// ENOENT: it finds that the parent exists and tries again.

/** Creates a folder and its missing parents; existing ones stay as they are. Rejects with the system's error. */
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

/** The folder may exist by now; systems report that with several codes. */
function refuseUnlessFolder(path: string, error: unknown): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
}
