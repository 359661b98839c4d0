import { lstatSync, readFileSync, type Stats, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { attempt, FolderDoor, randomHex } from "@tau-agent/system";
import { foldersAbove, parentOf } from "../../git/file-names.ts";

export interface BackedUp {
  /** Relative to the root, one character per byte. */
  readonly name: string;
  readonly before: NothingThere | LinkThere | FileThere;
}

interface NothingThere {
  readonly kind: "none";
  /** Missing parent folders, the outermost first. */
  readonly folders: readonly string[];
}

/** Detects whether a file was replaced by another one with the same name. */
interface Identity {
  readonly inode: number;
  readonly changedAt: number;
}

interface LinkThere extends Identity {
  readonly kind: "link";
  readonly target: string;
}

interface FileThere extends Identity {
  readonly kind: "file";
  readonly copy: string;
}

/**
 * Backs up the files with these names. A hard link is enough, because git replaces files instead of
 * overwriting them; restoring brings back the original file itself.
 */
export async function backUp(
  root: string,
  names: readonly string[],
  folder: string,
): Promise<BackedUp[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  using door = new FolderDoor(root);
  const files: BackedUp[] = [];
  for (const [index, name] of names.entries()) {
    const found = lookThrough(door, name);
    if (found?.isSymbolicLink()) {
      const target = door.readLink(name).toString("latin1");
      files.push({ name, before: { kind: "link", target, ...identityOf(found) } });
    } else if (found?.isFile()) {
      const copy = join(folder, String(index));
      try {
        door.linkOut(name, copy);
      } catch {
        writeFileSync(copy, door.read(name).content, { mode: 0o600, flag: "wx" });
        utimesSync(copy, found.atime, found.mtime);
      }
      files.push({ name, before: { kind: "file", copy, ...identityOf(found) } });
    } else if (found === undefined) {
      files.push({ name, before: { kind: "none", folders: missingFolders(door, name) } });
    }
  }
  return files;
}

const identityOf = ({ ino, mtimeMs }: Stats): Identity => ({ inode: ino, changedAt: mtimeMs });

export function isUntouched(before: BackedUp["before"], found: Stats | undefined): boolean {
  if (before.kind === "none") return found === undefined;
  return found?.ino === before.inode && found.mtimeMs === before.changedAt;
}

/** Restores the backed-up files; unchanged ones are not touched. */
export async function putBack(root: string, files: readonly BackedUp[]): Promise<void> {
  using door = new FolderDoor(root);
  for (const file of files) {
    try {
      putOneBack(door, file);
    } catch {
      // The other files are restored nevertheless.
    }
  }
}

function putOneBack(door: FolderDoor, { name, before }: BackedUp): void {
  const found = door.look(name);
  if (isUntouched(before, found)) return;
  // A folder that took the file's place is empty once everything else is restored.
  if (found?.isDirectory()) door.removeFolder(name);
  else if (found !== undefined) door.remove(name);
  if (before.kind === "none") {
    for (const folder of before.folders.toReversed()) {
      try {
        door.removeFolder(folder);
      } catch {
        // The folder contains something else.
      }
    }
    return;
  }
  const temporaryName = `.tau-${randomHex(6)}`;
  const changedAt = new Date(before.changedAt);
  if (before.kind === "link") {
    door.writeLink(name, Buffer.from(before.target, "latin1"), temporaryName);
    door.setTimes(name, changedAt, changedAt);
    return;
  }
  door.makeFolder(parentOf(name));
  try {
    door.linkIn(before.copy, name);
  } catch {
    const { mode, atime, mtime } = lstatSync(before.copy);
    door.write(name, readFileSync(before.copy), { mode: mode & 0o777, temporaryName });
    door.setTimes(name, atime, mtime);
  }
}

/** The stats of a name; undefined if a file or link is on its path. */
function lookThrough(door: FolderDoor, name: string): Stats | undefined {
  return attempt(() => door.look(name));
}

function missingFolders(door: FolderDoor, name: string): string[] {
  const above = foldersAbove(name);
  const found = above.findIndex((folder) => lookThrough(door, folder));
  return above.slice(0, found === -1 ? undefined : found).reverse();
}
