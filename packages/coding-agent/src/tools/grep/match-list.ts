import type { WorkspaceMatch } from "@tau-agent/rpc-protocol/workspace";
import { maxOutputBytes, truncateLine } from "@tau-agent/system";

const maxLineCharacters = 500;

export interface FoundLine {
  readonly path: string;
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** Collects the matches of a search, up to its limits. */
export class MatchList {
  readonly #limit: number;
  readonly #found: FoundLine[] = [];
  #matchCount = 0;
  #bytes = 0;
  isLimitReached = false;
  hasCutLines = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get matchCount(): number {
    return this.#matchCount;
  }

  /** Adds a match with its context lines; false once no more are needed. */
  add(path: string, { line = 0, text = "", before = [], after = [] }: WorkspaceMatch): boolean {
    if (this.#matchCount === this.#limit) {
      this.isLimitReached = true;
      return false;
    }
    this.#matchCount++;
    const first = line - before.length;
    return (
      before.every((each, at) =>
        this.#add({ path, number: first + at, text: each, isMatch: false }),
      ) &&
      this.#add({ path, number: line, text, isMatch: true }) &&
      after.every((each, at) =>
        this.#add({ path, number: line + 1 + at, text: each, isMatch: false }),
      )
    );
  }

  #add(found: FoundLine): boolean {
    const last = this.#found.at(-1);
    // A workspace may return a line with each match whose context includes it.
    if (last?.path === found.path && last.number >= found.number) {
      if (found.isMatch) this.#mark(found);
      return true;
    }
    const text = truncateLine(found.text.replace(/\r$/, ""), maxLineCharacters);
    if (text.length < found.text.length - 1) this.hasCutLines = true;
    this.#found.push({ ...found, text });
    this.#bytes += text.length + found.path.length;
    return this.#bytes <= maxOutputBytes * 2;
  }

  /** Marks a line that came as context as a match of its own. */
  #mark({ path, number }: FoundLine): void {
    const at = this.#found.findLastIndex((line) => line.path === path && line.number === number);
    const line = this.#found[at];
    if (line !== undefined) this.#found[at] = { ...line, isMatch: true };
  }

  lines(): string[] {
    return this.#found.map(({ path, number, text, isMatch }) =>
      isMatch ? `${path}:${number}: ${text}` : `${path}-${number}- ${text}`,
    );
  }
}
