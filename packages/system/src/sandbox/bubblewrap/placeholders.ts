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

/** What a command found protected, and what to call when it has ended. */
export interface TakenPlaces {
  readonly places: ProtectedPlaces;
  readonly release: () => Promise<void>;
}

/**
 * Makes what has to be there while commands run, and removes it when the last of them has ended.
 *
 * A mount on a file that somebody removes is gone with it, in every sandbox. So each host notes in a file
 * what it uses, and removes only what no living host uses; what a host left that was killed, the next one
 * removes.
 */
export class Placeholders {
  readonly #folder: string;
  readonly #id = `${process.pid}-${randomHex(4)}@${hostname()}`;
  readonly #uses = new Map<string, { readonly placeholder: MissingPlace; count: number }>();

  /** @param folder where hosts note what they use */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Makes what is missing; `release` removes it again unless it is used elsewhere.
   *
   * @param find looks for places; told whether one is there only because another command runs, which may end
   *   before this one starts
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

  /** Whether it was made by a sandbox; its note is written before it is made. */
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
      // It is there already, from another host.
    }
    return true;
  }

  #release(placeholders: readonly MissingPlace[]): void {
    const others = this.#othersUse();
    // What lies in a folder goes before it.
    for (const placeholder of [...placeholders].reverse()) {
      const use = this.#uses.get(placeholder.path);
      if (use === undefined || --use.count > 0) continue;
      this.#uses.delete(placeholder.path);
      if (others.get(placeholder.path)?.isAlive !== true) remove(placeholder);
    }
    this.#note();
  }

  /** What other hosts use, and whether they live; what dead ones left is removed. */
  #othersUse(): ReadonlyMap<string, OthersUse> {
    const used = new Map<string, OthersUse>();
    for (const name of readdirSync(this.#folder)) {
      if (!name.endsWith(".json") || name === `${this.#id}.json`) continue;
      // Another machine, or container, may share the folder; its processes cannot be looked for here.
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

/** Only what is as it was made: somebody may have begun to use it. */
function remove({ path, content }: MissingPlace): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (isAsMade({ path, content })) unlinkSync(path);
  } catch {
    // It is gone, or in use.
  }
}

function readNote(file: string): readonly MissingPlace[] {
  return attempt(() => JSON.parse(readFileSync(file, "utf8")) as readonly MissingPlace[]) ?? [];
}
