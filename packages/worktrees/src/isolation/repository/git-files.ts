import { realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { closedPaths, DoorError, FolderDoor } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";

/** Larger lists of patterns and grafts are nothing that people write. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_LINK_BYTES = 64 * 1024;
const MAX_REF_BYTES = 4096;

/** The way to git's own files in a folder that commands may have changed, or change now. */
export function openGitFolder(git: Git, folder: string): FolderDoor {
  return new FolderDoor(realpathSync(folder), closedPaths(git.environment));
}

/**
 * Copies a file, if it is a plain one and not closed: what a link or a device gives could have no end, or be
 * nobody's to read.
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

/** Copies the files below a folder; those that are larger than a ref are left out. */
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

/** The names in a folder; none where it cannot be entered. */
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
    // Neither a file that is missing nor one that is something else is copied.
    if (error instanceof DoorError || (error instanceof Error && "code" in error)) return undefined;
    throw error;
  }
}
