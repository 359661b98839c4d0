import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/**
 * Opens a file to read it; `undefined` when it is not a regular one. Neither this nor a read waits: a
 * pipe has nobody who writes, and `/proc/kmsg` calls itself regular and would block a thread forever.
 *
 * @param check throws for an opened file that must not be read
 */
export async function openRegularFile(
  path: string,
  check?: (descriptor: number) => void,
): Promise<FileHandle | undefined> {
  // Windows has no such flag, and no such files.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    check?.(file.fd);
    const found = await file.stat();
    if (found.isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}
