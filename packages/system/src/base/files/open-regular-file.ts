import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/**
 * Opens a regular file for reading; `undefined` for anything else. Neither opening nor reading blocks: a pipe may
 * have no writer, and `/proc/kmsg` claims to be regular but would block a thread forever.
 *
 * @param check throws for an opened file that must not be read
 */
export async function openRegularFile(
  path: string,
  check?: (descriptor: number) => void,
): Promise<FileHandle | undefined> {
  // Windows has neither this flag nor such files.
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
