/** How many characters before the end a match may begin. */
const WINDOW_LENGTH = 4096;
/** How many additional characters look-behinds can see. */
const LEAD_LENGTH = 256;
const MAX_LENGTH = 2 * (WINDOW_LENGTH + LEAD_LENGTH);

/** A text to search, with the start position. */
export interface Probe {
  readonly text: string;
  readonly start: number;
  readonly patterns: readonly number[];
}

/** Patterns, grouped by how much of a text they need. */
export interface PatternNumbers {
  /** Patterns that match within one line. */
  readonly onLine: readonly number[];
  readonly anywhere: readonly number[];
}

export class GrowingText {
  readonly #patterns: PatternNumbers;
  #line = new TextWindow(true);
  #text = new TextWindow(false);
  #length = 0;

  constructor(patterns: PatternNumbers) {
    this.#patterns = patterns;
  }

  get length(): number {
    return this.#length;
  }

  add(piece: string): Probe[] {
    const { onLine, anywhere } = this.#patterns;
    this.#length += piece.length;
    const probes: Probe[] = [];
    if (onLine.length > 0) probes.push({ ...this.#line.add(piece), patterns: onLine });
    if (anywhere.length > 0) probes.push({ ...this.#text.add(piece), patterns: anywhere });
    return probes;
  }

  restart(): void {
    this.#line = new TextWindow(true);
    this.#text = new TextWindow(false);
    this.#length = 0;
  }
}

/**
 * The end of a growing text, or of its last line. It is cut from time to time, so that a long reply costs no more per
 * piece than a short one. A search never begins at the cut, where `^` and `\b` would be wrong.
 */
class TextWindow {
  readonly #isLine: boolean;
  #text = "";
  /** No search begins before this position. */
  #floor = 0;

  constructor(isLine: boolean) {
    this.#isLine = isLine;
  }

  add(piece: string): Pick<Probe, "text" | "start"> {
    const fresh = this.#text.length;
    this.#text += piece;
    const start = Math.max(this.#floor, fresh - WINDOW_LENGTH);
    const shown = Math.max(0, start - LEAD_LENGTH);
    const probe = { text: this.#text.slice(shown), start: start - shown };
    const lineEnd = this.#isLine ? piece.lastIndexOf("\n") : -1;
    if (lineEnd !== -1) this.#cut(fresh + lineEnd + 1);
    if (this.#text.length > MAX_LENGTH) this.#cut(this.#text.length - WINDOW_LENGTH);
    return probe;
  }

  #cut(from: number): void {
    const shown = Math.max(0, from - LEAD_LENGTH);
    this.#text = this.#text.slice(shown);
    this.#floor = from - shown;
  }
}
