import { constants, type Stats } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { FolderDoor } from "@tau-agent/system";

const HEAD_BYTES = 512;

export interface PageTarget extends Disposable {
  readonly path: string;
}

/**
 * The file to which the page for `path` is written. Links are followed, except below a folder that commands
 * can change, where the page replaces a link with its own name. Refuses to replace a conversation or
 * anything other than a regular file.
 *
 * @throws {SessionError} `export_failed`
 */
export async function pageTarget(
  path: string,
  changeable: string | undefined,
): Promise<PageTarget> {
  const door = changeable === undefined ? undefined : new FolderDoor(await realpath(changeable));
  try {
    const target =
      door === undefined
        ? await realpath(path).catch(() => path)
        : join(door.hold(folderIn(changeable ?? "", path)), basename(path));
    const found = await lstat(target).catch(() => undefined);
    const reason = found && (await refusalOf(target, found));
    if (reason !== undefined) throw new SessionError("export_failed", { path, reason });
    return { path: target, [Symbol.dispose]: () => door?.[Symbol.dispose]() };
  } catch (error) {
    door?.[Symbol.dispose]();
    throw error;
  }
}

/** The path relative to a folder, one character per byte. */
function folderIn(folder: string, path: string): string {
  const names = relative(folder, dirname(path)).replaceAll("\\", "/");
  return Buffer.from(names).toString("latin1");
}

async function refusalOf(target: string, found: Stats): Promise<string | undefined> {
  // The page replaces a dangling link, and a link that was not followed.
  if (found.isSymbolicLink()) return undefined;
  if (!found.isFile()) return "it is not a plain file";
  return (await isSessionFile(target)) ? "it is a session file" : undefined;
}

async function isSessionFile(path: string): Promise<boolean> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return /^\s*\{[^\n]*"type"\s*:\s*"session"/.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await file.close();
  }
}
