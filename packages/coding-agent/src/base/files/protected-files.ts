import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { FolderFiles } from "./folder-files.ts";

/** Files of a folder that no tool opens, by any name. */
export class ProtectedFiles {
  readonly #paths: ReadonlySet<string>;
  readonly #files: FolderFiles;

  constructor(folder: string, names: readonly string[]) {
    this.#paths = new Set(names.map((name) => join(folder, name)));
    this.#files = new FolderFiles(folder, names);
  }

  /** Whether a path leads to one of them, through links of any kind; `found` is what is there. */
  includes(path: string, found: BigIntStats | undefined): boolean {
    if (this.#paths.has(path)) return true;
    if (found?.isFile() !== true) return false;
    return this.#files.stats().some((one) => one?.dev === found.dev && one.ino === found.ino);
  }
}
