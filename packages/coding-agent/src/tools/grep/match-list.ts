import { maxOutputBytes, truncateLine } from "@tau-agent/system";

const maxLineCharacters = 500;

/** A line a search reports. */
export interface FoundLine {
  readonly path: string;
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** Collects what a search finds, up to its limits. */
export class MatchList {
  readonly #limit: number;
  readonly #context: number;
  readonly #found: FoundLine[] = [];
  #matchCount = 0;
  #bytes = 0;
  #lastMatch: FoundLine | undefined;
  isLimitReached = false;
  hasCutLines = false;

  constructor(limit: number, context: number) {
    this.#limit = limit;
    this.#context = context;
  }

  get matchCount(): number {
    return this.#matchCount;
  }

  /** Takes a line; false when nothing more is wanted. */
  add(line: FoundLine): boolean {
    if (line.isMatch && this.#matchCount === this.#limit) {
      this.isLimitReached = true;
      this.#dropContextOfNextMatch();
      return false;
    }
    const text = truncateLine(line.text.replace(/\r$/, ""), maxLineCharacters);
    if (text.length < line.text.length - 1) this.hasCutLines = true;
    const kept = { ...line, text };
    this.#found.push(kept);
    if (line.isMatch) {
      this.#matchCount++;
      this.#lastMatch = kept;
    }
    this.#bytes += text.length + line.path.length;
    return this.#bytes <= maxOutputBytes * 2;
  }

  lines(): string[] {
    return this.#found.map(({ path, number, text, isMatch }) =>
      isMatch ? `${path}:${number}: ${text}` : `${path}-${number}- ${text}`,
    );
  }

  // The lines before a match are reported before it turns out to be one too many.
  #dropContextOfNextMatch(): void {
    const last = this.#lastMatch;
    for (let line = this.#found.at(-1); line !== undefined; line = this.#found.at(-1)) {
      const belongs = line.path === last?.path && line.number <= last.number + this.#context;
      if (line.isMatch || belongs) return;
      this.#found.pop();
    }
  }
}
