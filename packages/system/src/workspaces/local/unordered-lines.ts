import type { FoundLine } from "../common/found-lines.ts";

const maxCharacters = 1024 * 1024;

/** Lines of files that were searched at the same time, until there are too many to sort. */
export class UnorderedLines {
  readonly #maxMatches: number;
  /** Each with the lines of one file, in order. */
  readonly #files = new Map<string, FoundLine[]>();
  #matchCount = 0;
  #characters = 0;

  constructor(maxMatches: number) {
    this.#maxMatches = maxMatches;
  }

  get isFull(): boolean {
    return this.#matchCount > this.#maxMatches || this.#characters > maxCharacters;
  }

  /** Takes a line; false when it was one too many. */
  add(line: FoundLine): boolean {
    if (line.isMatch) this.#matchCount++;
    this.#characters += line.path.length + line.text.length;
    const lines = this.#files.get(line.path);
    if (lines) lines.push(line);
    else this.#files.set(line.path, [line]);
    return !this.isFull;
  }

  /** Hands the lines over in the order of their paths, until `onLine` returns false. */
  report(onLine: (line: FoundLine) => boolean): void {
    const files = [...this.#files].map(([path, lines]) => ({ key: orderKey(path), lines }));
    files.sort((left, right) => left.key.compare(right.key));
    for (const { lines } of files) {
      if (!lines.every(onLine)) return;
    }
  }
}

/** Directory by directory and by bytes, as ripgrep orders paths. */
function orderKey(path: string): Buffer {
  return Buffer.from(path.replaceAll("/", "\0"));
}
