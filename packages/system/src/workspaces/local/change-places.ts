import { lstatSync, statSync } from "node:fs";
import { rename, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { errorCode } from "../../base/files/error-code.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { HeldFolder, makeAndHold } from "./held-folder.ts";
import { callOn } from "./local-errors.ts";
import type { Reach } from "./reach.ts";

/** Removes a file, a link, or a folder. */
export async function removePath(path: string, isRecursive: boolean, reach: Reach): Promise<void> {
  await inFolderOf(path, reach, async (place) => {
    const isFolder = lstatSync(place).isDirectory();
    if (!isFolder) await unlink(place);
    else if (isRecursive) await rm(place, { recursive: true });
    else await rmdir(place);
  });
}

/** Moves a file or folder; replaces a file or link, never a folder. */
export async function renamePath(from: string, to: string, reach: Reach): Promise<void> {
  await inFolderOf(from, reach, async (source) => {
    const isFolder = lstatSync(source).isDirectory();
    // Errors from here on concern the other path.
    await callOn(to, undefined, () =>
      inFolderOf(to, reach, async (target) => {
        const old = lstatSync(target, { throwIfNoEntry: false });
        if (old?.isDirectory() || (old !== undefined && isFolder)) {
          throw new WorkspaceError("exists", undefined, { path: to });
        }
        await rename(source, target);
      }),
    );
  });
}

/** Makes a folder and its parents. */
export async function createFolder(path: string, reach: Reach): Promise<void> {
  try {
    if (reach.isLimited) await makeFolderWithin(path, reach);
    else await makeFolder(path);
  } catch (error) {
    throw isFile(path) ? new WorkspaceError("exists", undefined, { path, cause: error }) : error;
  }
}

async function makeFolderWithin(path: string, reach: Reach): Promise<void> {
  const held = await makeAndHold(path, reach);
  try {
    reach.checkReal(held.real);
  } finally {
    await held.close();
  }
}

/** Calls back with a path through the parent folder that was checked, even if that folder is replaced meanwhile. */
async function inFolderOf(
  path: string,
  reach: Reach,
  call: (place: string) => Promise<void>,
): Promise<void> {
  if (!reach.isLimited) {
    reach.checkReal(path);
    return call(path);
  }
  const held = await HeldFolder.open(dirname(path));
  try {
    reach.checkReal(join(held.real, basename(path)));
    await call(join(held.place, basename(path)));
  } finally {
    await held.close();
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}
