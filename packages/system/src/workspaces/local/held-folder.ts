import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../../base/files/error-code.ts";
import { heldPath, openedPath } from "../../base/files/opened-path.ts";
import type { Reach } from "./reach.ts";

/** The number of links that systems follow. */
const maxLinks = 40;

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

/** An open folder: `place` still leads to it, even if something else takes its place in the file system. */
export class HeldFolder {
  readonly #handle: FileHandle;
  /** Its real path, with links resolved. */
  readonly real: string;
  /** A path to the open folder for further calls. */
  readonly place: string;

  static async open(folder: string, flags = 0): Promise<HeldFolder> {
    const handle = await open(folder, O_RDONLY | O_DIRECTORY | flags);
    try {
      const opened = openedPath(handle.fd);
      if (opened !== undefined) return new HeldFolder(handle, opened, heldPath(handle.fd));
      // Without `/proc`, the real path is the next best.
      const real = await realpath(folder);
      return new HeldFolder(handle, real, real);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  private constructor(handle: FileHandle, real: string, place: string) {
    this.#handle = handle;
    this.real = real;
    this.place = place;
  }

  get descriptor(): number {
    return this.#handle.fd;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/**
 * Opens a folder, after making it and its missing parents. Each folder is checked before it is made, inside
 * the one that is open.
 */
export async function makeAndHold(folder: string, reach: Reach, links = 0): Promise<HeldFolder> {
  const missing: string[] = [];
  let held: HeldFolder | undefined;
  for (let at = folder; held === undefined; at = dirname(at)) {
    try {
      held = await HeldFolder.open(at);
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || dirname(at) === at) throw error;
      missing.unshift(basename(at));
    }
  }
  for (const [at, name] of missing.entries()) {
    const parent: HeldFolder = held;
    try {
      const link = await readlink(join(parent.place, name)).catch(() => undefined);
      if (link !== undefined && links < maxLinks) {
        const target = resolve(parent.real, link);
        return await makeAndHold(join(target, ...missing.slice(at + 1)), reach, links + 1);
      }
      reach.checkReal(join(parent.real, name));
      await mkdir(join(parent.place, name)).catch(ignoreExisting);
      held = await HeldFolder.open(join(parent.place, name), O_NOFOLLOW);
    } finally {
      await parent.close();
    }
  }
  return held;
}

function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== "EEXIST") throw error;
}
