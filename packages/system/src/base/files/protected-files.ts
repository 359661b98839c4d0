import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { statOf } from "./file-stamp.ts";
import { FolderFiles } from "./folder-files.ts";

/** The error text of a workspace for a file that holds keys. */
export const keyFileText = "It holds keys and is not opened";

/** The error text of a tool for such a file. */
export function keyFileRefusal(shown: string): string {
  return `${shown} holds keys and is not opened. Ask the user to change it.`;
}

/** Files that no tool opens, whatever name leads to them. */
export class ProtectedFiles {
  readonly paths: ReadonlySet<string>;
  readonly #files: FolderFiles;
  readonly #others: readonly string[];

  /** @param others - absolute paths of files that are not in the folder. */
  constructor(folder: string, names: readonly string[], others: readonly string[] = []) {
    this.paths = new Set([...names.map((name) => join(folder, name)), ...others]);
    this.#files = new FolderFiles(folder, names);
    this.#others = others;
  }

  /** Whether a path leads to a protected file, through links of any kind; `found` has the stats of the path. */
  includes(path: string, found: BigIntStats | undefined): boolean {
    if (this.paths.has(path)) return true;
    if (found?.isFile() !== true) return false;
    const files = [...this.#files.stats(), ...this.#others.map(statOf)];
    return files.some((one) => one?.dev === found.dev && one.ino === found.ino);
  }
}
