import { type BigIntStats, lstatSync } from "node:fs";
import { join } from "node:path";
import { isRecent, stampOf, statOf } from "./file-stamp.ts";

/**
 * Looks at some files of a folder. Those that are missing are not asked for again before the folder
 * has changed: most users have one of the files that hold keys, and every call of a tool asks for all
 * (row "`read` turn: system calls").
 */
export class FolderFiles {
  readonly #folder: string;
  readonly #names: readonly string[];
  #missing: { readonly stamp: string; readonly names: ReadonlySet<string> } | undefined;

  constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.#names = names;
  }

  /** What there is of each file, in the order of their names. */
  stats(): readonly (BigIntStats | undefined)[] {
    const folder = statOf(this.#folder);
    const stamp = folder === undefined ? "" : stampOf(folder);
    const missing = this.#missing?.stamp === stamp ? this.#missing.names : undefined;
    const found = this.#names.map((name) =>
      missing?.has(name) ? undefined : statOf(join(this.#folder, name)),
    );
    // The folder was asked first: a file that has come since has changed it again.
    if (missing === undefined && folder !== undefined && !isRecent(folder)) {
      const names = this.#names.filter((name, at) => found[at] === undefined && !this.#has(name));
      this.#missing = { stamp, names: new Set(names) };
    }
    return found;
  }

  /** A link that leads nowhere is there, and what it leads to may come without a change of the folder. */
  #has(name: string): boolean {
    try {
      return lstatSync(join(this.#folder, name), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return true;
    }
  }
}
