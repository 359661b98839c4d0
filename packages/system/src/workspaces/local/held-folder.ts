import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../../base/files/error-code.ts";
import { heldPath, openedPath } from "../../base/files/opened-path.ts";
import type { Reach } from "./reach.ts";

/** As many links as systems follow. */
const maxLinks = 40;

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

/** A folder that is open: whatever takes its place on the way to it, `place` still leads there. */
export class HeldFolder {
  readonly #handle: FileHandle;
  /** Where it is, links followed. */
  readonly real: string;
  /** A path to it for further calls. */
  readonly place: string;

  static async open(folder: string, flags = 0): Promise<HeldFolder> {
    const handle = await open(folder, O_RDONLY | O_DIRECTORY | flags);
    try {
      const opened = openedPath(handle.fd);
      if (opened !== undefined) return new HeldFolder(handle, opened, heldPath(handle.fd));
      // Without `/proc`, its real path is the next best.
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
 * Opens a folder, and makes it and those above it first where they are missing. Each that is made is judged
 * before, and made in the one that is open.
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
