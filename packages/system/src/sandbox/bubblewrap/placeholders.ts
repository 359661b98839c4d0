import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { attempt } from "../../base/attempt.ts";
import { withFileLock } from "../../base/files/file-lock.ts";
import { isRunning } from "../../base/is-running.ts";
import { randomHex } from "../../base/random.ts";
import type { MissingPlace, ProtectedPlaces } from "../paths/protected-places.ts";

/** The protected places of a command, and what to call when it has ended. */
export interface TakenPlaces {
  readonly places: ProtectedPlaces;
  readonly release: () => Promise<void>;
}

/**
 * Makes files and folders that have to exist while commands run, and removes them when the last command has ended.
 *
 * If a file is removed, mounts on it disappear in every sandbox. So each host notes in a file which placeholders it
 * uses, and removes only those that no living host uses. Placeholders of a killed host are removed by the next one.
 */
export class Placeholders {
  readonly #folder: string;
  readonly #id = `${process.pid}-${randomHex(4)}@${hostname()}`;
  readonly #uses = new Map<string, { readonly placeholder: MissingPlace; count: number }>();

  /** @param folder where hosts note the placeholders they use */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Makes missing places; `release` removes them again unless they are used elsewhere.
   *
   * @param find finds the places; its argument tells whether a place exists only because of another command,
   * which may end before this one starts
   */
  async take(
    find: (isPlaceholder: (path: string) => boolean) => ProtectedPlaces,
  ): Promise<TakenPlaces> {
    const { places, taken } = await this.#locked(() => {
      const others = this.#othersUse();
      const found = find((path) => {
        const placeholder = this.#uses.get(path)?.placeholder ?? others.get(path)?.placeholder;
        return placeholder !== undefined && isAsMade(placeholder);
      });
      return { places: found, taken: found.missing.filter((each) => this.#takeOne(each, others)) };
    });
    return {
      places,
      release: async () => {
        if (taken.length > 0) await this.#locked(() => this.#release(taken));
      },
    };
  }

  /** Returns whether a sandbox made the place; the note is written before the place is made. */
  #takeOne(placeholder: MissingPlace, others: ReadonlyMap<string, OthersUse>): boolean {
    const { path, content } = placeholder;
    const use = this.#uses.get(path);
    if (use !== undefined) {
      use.count += 1;
      return true;
    }
    const isOurs = others.has(path);
    if (!isOurs && statSync(path, { throwIfNoEntry: false }) !== undefined) return false;
    this.#uses.set(path, { placeholder, count: 1 });
    this.#note();
    try {
      if (content === undefined) mkdirSync(path);
      else writeFileSync(path, content, { flag: "wx" });
    } catch {
      // Another host has already made it.
    }
    return true;
  }

  #release(placeholders: readonly MissingPlace[]): void {
    const others = this.#othersUse();
    // The content of a folder is removed before the folder.
    for (const placeholder of [...placeholders].reverse()) {
      const use = this.#uses.get(placeholder.path);
      if (use === undefined || --use.count > 0) continue;
      this.#uses.delete(placeholder.path);
      if (others.get(placeholder.path)?.isAlive !== true) remove(placeholder);
    }
    this.#note();
  }

  /** The placeholders of other hosts, and whether those hosts live; removes placeholders of dead ones. */
  #othersUse(): ReadonlyMap<string, OthersUse> {
    const used = new Map<string, OthersUse>();
    for (const name of readdirSync(this.#folder)) {
      if (!name.endsWith(".json") || name === `${this.#id}.json`) continue;
      // The folder may be shared with another machine or container, whose processes cannot be checked here.
      const isHere = name.endsWith(`@${hostname()}.json`);
      const isAlive = !isHere || isRunning(Number.parseInt(name, 10));
      const listed = readNote(join(this.#folder, name));
      for (const placeholder of listed) {
        const { path } = placeholder;
        used.set(path, { placeholder, isAlive: isAlive || used.get(path)?.isAlive === true });
      }
      if (isAlive) continue;
      for (const each of [...listed].reverse()) {
        if (!this.#uses.has(each.path) && used.get(each.path)?.isAlive !== true) {
          remove(each);
          used.delete(each.path);
        }
      }
      rmSync(join(this.#folder, name), { force: true });
    }
    return used;
  }

  #note(): void {
    const file = join(this.#folder, `${this.#id}.json`);
    const listed = [...this.#uses.values()].map(({ placeholder }) => placeholder);
    if (listed.length === 0) rmSync(file, { force: true });
    else writeFileSync(file, JSON.stringify(listed), { mode: 0o600 });
  }

  async #locked<T>(work: () => T): Promise<T> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return withFileLock(join(this.#folder, "placeholders"), async () => work());
  }
}

/** A placeholder of another host. */
interface OthersUse {
  readonly placeholder: MissingPlace;
  readonly isAlive: boolean;
}

function isAsMade({ path, content }: MissingPlace): boolean {
  try {
    if (content !== undefined) return readFileSync(path, "utf8") === content;
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** Removes a placeholder only if it is unchanged: it may be in use by now. */
function remove({ path, content }: MissingPlace): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (isAsMade({ path, content })) unlinkSync(path);
  } catch {
    // It is gone or in use.
  }
}

function readNote(file: string): readonly MissingPlace[] {
  return attempt(() => JSON.parse(readFileSync(file, "utf8")) as readonly MissingPlace[]) ?? [];
}
