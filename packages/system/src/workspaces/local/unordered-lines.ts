import type { FoundLine } from "../common/found-lines.ts";

const maxCharacters = 1024 * 1024;

/**
 * Lines of files that were searched at the same time, up to the matches that are wanted. Which ones these
 * are of more is the order in which they were found: a search that went on until the first by path are
 * known took twice as long (rows `grep-many`, `grep-everywhere`).
 */
export class UnorderedLines {
  readonly #limit: number;
  /** Each with the lines of one file, in order. */
  readonly #files = new Map<string, FoundLine[]>();
  #matchCount = 0;
  #characters = 0;
  #isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether there was more than it holds. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes a line; false when it was one too many. */
  add(line: FoundLine): boolean {
    if (line.isMatch) this.#matchCount += 1;
    this.#characters += line.path.length + line.text.length;
    this.#isFull ||= this.#matchCount > this.#limit || this.#characters > maxCharacters;
    // The first line is shown however long it is.
    if (this.#isFull && this.#files.size > 0) return false;
    const lines = this.#files.get(line.path);
    if (lines) lines.push(line);
    else this.#files.set(line.path, [line]);
    return !this.#isFull;
  }

  /** Those it holds, in the order of their paths. */
  sorted(): FoundLine[] {
    const files = [...this.#files].map(([path, lines]) => ({ key: orderKey(path), lines }));
    files.sort((left, right) => left.key.compare(right.key));
    return files.flatMap(({ lines }) => lines);
  }
}

/** Directory by directory and by bytes, as ripgrep orders paths. */
function orderKey(path: string): Buffer {
  return Buffer.from(path.replaceAll("/", "\0"));
}
