import type { Stats } from "node:fs";
import {
  copyFile,
  link,
  lstat,
  lutimes,
  mkdir,
  readlink,
  rm,
  rmdir,
  symlink,
  utimes,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { lookAt, placeOf } from "../repository/file-names.ts";

/** A file before it is replaced. */
export interface BackedUp {
  /** From the root; a character stands for a byte. */
  readonly name: string;
  readonly before: NothingThere | LinkThere | FileThere;
}

interface NothingThere {
  readonly kind: "none";
  /** Missing parent folders, the outermost first. */
  readonly folders: readonly string[];
}

/** Tells whether a file was replaced by another of the same name. */
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
 * writing into them; restoring brings back the very same file.
 */
export async function backUp(
  root: string,
  names: readonly string[],
  folder: string,
): Promise<BackedUp[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files: BackedUp[] = [];
  for (const [index, name] of names.entries()) {
    const place = placeOf(root, name);
    const found = await lstat(place).catch(() => undefined);
    if (found?.isSymbolicLink()) {
      const target = (await readlink(place, "buffer")).toString("latin1");
      files.push({ name, before: { kind: "link", target, ...identityOf(found) } });
    } else if (found?.isFile()) {
      const copy = join(folder, String(index));
      await link(place, copy).catch(async () => {
        await copyFile(place, copy);
        await utimes(copy, found.atime, found.mtime);
      });
      files.push({
        name,
        before: { kind: "file", copy, ...identityOf(found) },
      });
    } else if (found === undefined) {
      files.push({ name, before: { kind: "none", folders: await missingFolders(root, name) } });
    }
  }
  return files;
}

const identityOf = ({ ino, mtimeMs }: Stats): Identity => ({ inode: ino, changedAt: mtimeMs });

/** Whether this is still the file that was backed up. */
export function isUntouched(before: BackedUp["before"], found: Stats | undefined): boolean {
  if (before.kind === "none") return found === undefined;
  return found?.ino === before.inode && found.mtimeMs === before.changedAt;
}

/** Restores the backed-up files; unchanged ones stay. */
export async function putBack(root: string, files: readonly BackedUp[]): Promise<void> {
  for (const file of files) await putOneBack(root, file).catch(() => undefined);
}

async function putOneBack(root: string, { name, before }: BackedUp): Promise<void> {
  const place = placeOf(root, name);
  const found = await lookAt(root, name);
  if (isUntouched(before, found)) return;
  // A folder that took the file's place is empty once everything else is back.
  if (found?.isDirectory()) await rmdir(place);
  else if (found !== undefined) await rm(place, { force: true });
  if (before.kind === "none") {
    for (const folder of before.folders.toReversed()) {
      await rmdir(placeOf(root, folder)).catch(() => undefined);
    }
    return;
  }
  await mkdir(placeOf(root, dirname(name)), { recursive: true });
  if (before.kind === "link") {
    await symlink(Buffer.from(before.target, "latin1"), place);
    await lutimes(place, before.changedAt / 1000, before.changedAt / 1000);
    return;
  }
  await link(before.copy, place).catch(async () => {
    const { atime, mtime } = await lstat(before.copy);
    await copyFile(before.copy, place);
    await utimes(place, atime, mtime);
  });
}

async function missingFolders(root: string, name: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = dirname(name); folder !== "."; folder = dirname(folder)) {
    if (await lstat(placeOf(root, folder)).catch(() => undefined)) break;
    missing.unshift(folder);
  }
  return missing;
}
