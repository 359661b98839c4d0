import { constants, type Stats } from "node:fs";
import {
  access,
  type FileHandle,
  open,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../../base/files/file-error.ts";
import { randomHex } from "../../base/random.ts";
import type { ToolEnvironment } from "../../processes/environment.ts";

// Creating a temporary file next to the target, or renaming it over the target, is not possible:
// read-only directory, bind-mounted file, foreign owner.
const notReplaceable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EBUSY", "EXDEV", "EROFS"]);

/**
 * Writes a file so that a failure half-way (a full disk, a crash) leaves the old content: into a
 * temporary file next to it, which then replaces it. Links are followed, mode and owner kept.
 * Written in place are files with several names, special files, and files in directories that do
 * not allow the exchange.
 */
async function writeFileSafely(path: string, content: string | Uint8Array): Promise<void> {
  const target = await followLinks(path);
  const old = await stat(target).catch(ignoreMissing);
  // Replacing the file would bypass its own permissions.
  if (old !== undefined) await access(target, constants.W_OK);
  if (old?.isFile() === false || (old?.nlink ?? 1) > 1) return writeFile(target, content);
  try {
    await replaceFile(target, content, old);
  } catch (error) {
    const code = errorCode(error) ?? "";
    // A virtual file system (/proc) reports the directory as missing.
    const isVirtual = code === "ENOENT" && old !== undefined;
    if (!notReplaceable.has(code) && !isVirtual) throw error;
    await writeFile(target, content);
  }
}

/** Writes a text where the session's tools write: on the disk, or where the client keeps its files. */
export async function writeText(
  path: string,
  text: string,
  { files }: Pick<ToolEnvironment, "files">,
): Promise<void> {
  if (files?.writeText === undefined) await writeFileSafely(path, text);
  else await files.writeText(path, text);
}

async function replaceFile(
  target: string,
  content: string | Uint8Array,
  old: Stats | undefined,
): Promise<void> {
  const suffix = randomHex(6);
  const temporary = join(dirname(target), `.${basename(target).slice(0, 100)}.${suffix}.tmp`);
  try {
    const file = await open(temporary, "wx", old === undefined ? 0o666 : old.mode & 0o777);
    try {
      await file.writeFile(content);
      if (old !== undefined) await keepOwnerAndMode(file, old);
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

async function keepOwnerAndMode(file: FileHandle, old: Stats): Promise<void> {
  const made = await file.stat();
  const isOwned = made.uid === old.uid && made.gid === old.gid;
  if (!isOwned) await file.chown(old.uid, old.gid);
  // The umask may have removed bits, and so does a change of owner.
  if (!isOwned || made.mode !== old.mode) await file.chmod(old.mode & 0o7777);
}

/** The file behind a path, also when a link leads to a file that does not exist yet. */
async function followLinks(path: string, depth = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || depth > 40) throw error;
  }
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : followLinks(resolve(dirname(path), link), depth + 1);
}

function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) === "ENOENT") return undefined;
  throw error;
}
