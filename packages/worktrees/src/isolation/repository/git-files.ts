import { realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { closedPaths, DoorError, FolderDoor } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";

/** Pattern and graft files written by people are never larger. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_LINK_BYTES = 64 * 1024;
const MAX_REF_BYTES = 4096;

/** Opens git's own files in a folder that commands may have changed, or may be changing. */
export function openGitFolder(git: Git, folder: string): FolderDoor {
  return new FolderDoor(realpathSync(folder), closedPaths(git.environment));
}

/**
 * Copies a file if it is a regular file and not closed: a link or a device could be endless, or lead to
 * content that nobody may read.
 */
export async function copyPlainFile(
  door: FolderDoor,
  name: string,
  { to, maxBytes = MAX_FILE_BYTES }: { readonly to: string; readonly maxBytes?: number },
): Promise<boolean> {
  const content = readPlain(door, name, maxBytes);
  if (content === undefined) return false;
  await writeFile(to, content);
  return true;
}

/** Copies the files below a folder, except files that are larger than a ref. */
export async function copyRefs(door: FolderDoor, folder: string, to: string): Promise<void> {
  for (const name of namesIn(door, folder)) {
    const path = `${folder}/${name}`;
    const target = join(to, Buffer.from(name, "latin1").toString("utf8"));
    if (attempt(() => door.look(path))?.isDirectory()) {
      await mkdir(target, { recursive: true });
      await copyRefs(door, path, target);
    } else await copyPlainFile(door, path, { to: target, maxBytes: MAX_REF_BYTES });
  }
}

/** The names in a folder; none if it cannot be entered. */
export function namesIn(door: FolderDoor, folder: string): readonly string[] {
  return attempt(() => door.list(folder)) ?? [];
}

/** The text of a file that names another folder. */
export function readLinkFile(path: string): string {
  using door = new FolderDoor(realpathSync(dirname(path)));
  const name = Buffer.from(basename(path)).toString("latin1");
  return door.read(name, MAX_LINK_BYTES).content.toString("utf8").trimEnd();
}

function readPlain(door: FolderDoor, name: string, maxBytes: number): Buffer | undefined {
  return attempt(() => door.read(name, maxBytes).content);
}

function attempt<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    // Neither missing nor irregular files are copied.
    if (error instanceof DoorError || (error instanceof Error && "code" in error)) return undefined;
    throw error;
  }
}
