import { open, realpath, stat } from "node:fs/promises";
import { SessionError } from "../base/errors.ts";

const HEAD_BYTES = 512;

/**
 * The file to write a page for `path` to; links are followed. Refuses to replace a conversation or
 * anything but a plain file.
 *
 * @throws {SessionError} `export_failed`
 */
export async function pageTarget(path: string): Promise<string> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) return target;
  const reason = !found.isFile()
    ? "it is not a plain file"
    : (await isSessionFile(target))
      ? "it is a session file"
      : undefined;
  if (reason !== undefined) throw new SessionError("export_failed", { path, reason });
  return target;
}

async function isSessionFile(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return /^\s*\{[^\n]*"type"\s*:\s*"session"/.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await file.close();
  }
}
