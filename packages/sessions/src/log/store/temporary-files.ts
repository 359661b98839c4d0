import { constants, lstatSync, mkdirSync, type Stats } from "node:fs";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { randomHex } from "@tau-agent/system";

/** The prefixes of names that hosts give their files and folders in the temporary folder. */
const ownNames = /^(pi-bash|tau-mcp|tau-tasks|tau-output)-/;
const MAX_DEPTH = 16;

/**
 * Files that hosts keep in the temporary folder of a machine. A path in a session may come from a tool's output,
 * and several users may share a store: so no other files are read, and nothing is written elsewhere.
 */
export class TemporaryFiles {
  readonly #root: string;

  /** @param root - the temporary folder */
  constructor(root: string) {
    this.#root = root;
  }

  /** The name of a host's file, which is the same in every temporary folder; undefined for any other file. */
  nameOf(path: string): string | undefined {
    if (!isAbsolute(path)) return undefined;
    const name = relative(this.#root, path).split(sep).join("/");
    return isOwnName(name) ? name : undefined;
  }

  /** The path on this machine for a name from {@link nameOf}; undefined for any other text. */
  pathOf(name: string): string | undefined {
    return isOwnName(name) ? join(this.#root, ...name.split("/")) : undefined;
  }

  /** Opens a regular file of this user to read it; undefined if there is none. */
  async open(path: string): Promise<FileHandle | undefined> {
    const name = this.nameOf(path);
    if (name === undefined || !this.#hasOwnFolders(name)) return undefined;
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
    if (file === undefined) return undefined;
    const found = await file.stat();
    if (found.isFile() && isOwn(found)) return file;
    await file.close();
    return undefined;
  }

  async sizeOf(path: string): Promise<number | undefined> {
    const file = await this.open(path);
    if (file === undefined) return undefined;
    try {
      return (await file.stat()).size;
    } finally {
      await file.close();
    }
  }

  /**
   * Writes a private file, completely or not at all. An existing file of another size is replaced.
   *
   * @returns whether the file exists afterwards
   */
  async write(path: string, pieces: AsyncIterable<Uint8Array>): Promise<boolean> {
    const name = this.nameOf(path);
    if (name === undefined || !this.#makeFolders(name)) return false;
    const draft = join(dirname(path), `.${randomHex(8)}.restoring`);
    const file = await open(draft, "wx", 0o600);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      await file.close();
      // A link never replaces a file; an existing file may be replaced if it belongs to this user.
      await link(draft, path).catch(async (error: unknown) => {
        if ((await this.sizeOf(path)) === undefined) throw error;
        await rename(draft, path);
      });
      return true;
    } finally {
      await file.close().catch(() => undefined);
      await unlink(draft).catch(() => undefined);
    }
  }

  #hasOwnFolders(name: string): boolean {
    return foldersOf(name).every((folder) => {
      const found = lstatSync(join(this.#root, folder), { throwIfNoEntry: false });
      return found?.isDirectory() === true && isOwn(found);
    });
  }

  /** In a folder that all users share, an existing folder may be another user's trap. */
  #makeFolders(name: string): boolean {
    for (const folder of foldersOf(name)) {
      const path = join(this.#root, folder);
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, 0o700);
    }
    return this.#hasOwnFolders(name);
  }
}

/** `a` and `a/b` for `a/b/c`. */
function foldersOf(name: string): string[] {
  const folders = name.split("/").slice(0, -1);
  return folders.map((_, index) => join(...folders.slice(0, index + 1)));
}

function isOwnName(name: string): boolean {
  const parts = name.split("/");
  return ownNames.test(name) && parts.length <= MAX_DEPTH && parts.every(isPlainPart);
}

function isPlainPart(part: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a name must not contain
  return part !== "" && part !== "." && part !== ".." && !/[\u0000-\u001f\\]/.test(part);
}

function isOwn({ uid }: Stats): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own;
}
