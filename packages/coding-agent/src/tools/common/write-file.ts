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
import {
  errorCode,
  heldPath,
  openedPath,
  randomHex,
  type Sandbox,
  type ToolEnvironment,
} from "@tau-agent/system";

// Creating a temporary file next to the target, or renaming it over the target, is not possible:
// read-only directory, bind-mounted file, foreign owner.
const notReplaceable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EBUSY", "EXDEV", "EROFS"]);

/**
 * Writes a file so that a failure half-way (a full disk, a crash) leaves the old content: into a
 * temporary file next to it, which then replaces it. Links are followed, mode and owner kept.
 * Written in place are files with several names, special files, and files in directories that do
 * not allow the exchange.
 */
async function writeFileSafely(
  path: string,
  content: string | Uint8Array,
  sandbox: Sandbox | undefined,
): Promise<void> {
  const target = await followLinks(path);
  if (sandbox === undefined) return writeTarget(target, content);
  // A folder on the way may be exchanged for a link at any time, but not one that is open.
  const folder = await open(dirname(target), constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  try {
    const real = openedPath(folder.fd);
    if (real === undefined) return await writeTarget(target, content);
    sandbox.refuseWrite(join(real, basename(target)), path);
    await writeTarget(join(heldPath(folder.fd), basename(target)), content);
  } finally {
    await folder.close();
  }
}

/** Writes a file whose links have been followed. */
async function writeTarget(target: string, content: string | Uint8Array): Promise<void> {
  const old = await stat(target).catch(ignoreMissing);
  // Replacing the file would bypass its own permissions.
  if (old !== undefined) await access(target, constants.W_OK);
  if (old?.isFile() === false || (old?.nlink ?? 1) > 1) return writeInPlace(target, content);
  try {
    await replaceFile(target, content, old);
  } catch (error) {
    const code = errorCode(error) ?? "";
    // A virtual file system (/proc) reports the directory as missing.
    const isVirtual = code === "ENOENT" && old !== undefined;
    if (!notReplaceable.has(code) && !isVirtual) throw error;
    await writeInPlace(target, content);
  }
}

/** Not through a link that has taken its place. */
function writeInPlace(target: string, content: string | Uint8Array): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  return writeFile(target, content, { flag: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW });
}

/** Writes a text where the session's tools write: on the disk, or where the client keeps its files. */
export async function writeText(
  path: string,
  text: string,
  { files, sandbox }: Pick<ToolEnvironment, "files" | "sandbox">,
): Promise<void> {
  if (files?.writeText === undefined) await writeFileSafely(path, text, sandbox);
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
