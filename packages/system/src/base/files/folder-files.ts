import { type BigIntStats, lstatSync } from "node:fs";
import { join } from "node:path";
import { isRecent, stampOf, statOf } from "./file-stamp.ts";

/**
 * Reads the stats of some files in a folder. Files that are missing are not looked up again until the
 * folder changes: most users have only one of the files that hold keys, and every tool call looks for
 * all of them (row "`read` turn: system calls").
 */
export class FolderFiles {
  readonly #folder: string;
  readonly #names: readonly string[];
  #missing: { readonly stamp: string; readonly names: ReadonlySet<string> } | undefined;

  constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.#names = names;
  }

  /** The stats of each file, in the order of their names. */
  stats(): readonly (BigIntStats | undefined)[] {
    const folder = statOf(this.#folder);
    const stamp = folder === undefined ? "" : stampOf(folder);
    const missing = this.#missing?.stamp === stamp ? this.#missing.names : undefined;
    const found = this.#names.map((name) =>
      missing?.has(name) ? undefined : statOf(join(this.#folder, name)),
    );
    // The folder's stats were read first: a file that appeared since has changed the folder again.
    if (missing === undefined && folder !== undefined && !isRecent(folder)) {
      const names = this.#names.filter((name, at) => found[at] === undefined && !this.#has(name));
      this.#missing = { stamp, names: new Set(names) };
    }
    return found;
  }

  /** A dangling link counts as present: its target may appear without a change to the folder. */
  #has(name: string): boolean {
    try {
      return lstatSync(join(this.#folder, name), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return true;
    }
  }
}
