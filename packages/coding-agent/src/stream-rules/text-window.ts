/** How far back a match may begin, in characters. */
const WINDOW_LENGTH = 8192;
/** How much before that stays in sight of look-behinds. */
const LEAD_LENGTH = 256;

/** A text to search, with the part of it that is new. */
export interface Probe {
  readonly text: string;
  /** Where a match may begin at the earliest. */
  readonly start: number;
  /** Where what has not been searched yet begins; a match on one line may begin before it there. */
  readonly fresh: number;
  /** Places of the patterns in the request. */
  readonly patterns: readonly number[];
}

/**
 * The end of a text that grows. It is cut from time to time, so that a long reply costs no more per
 * delta than a short one; a search never begins at the cut, where `^` and `\b` would be wrong.
 */
export class TextWindow {
  #text = "";
  #isCut = false;
  #length = 0;

  /** Characters added so far. */
  get length(): number {
    return this.#length;
  }

  /** Adds to the end and returns what is to be searched then. */
  add(text: string): Pick<Probe, "text" | "start" | "fresh"> {
    if (this.#text.length > 2 * (WINDOW_LENGTH + LEAD_LENGTH)) {
      this.#text = this.#text.slice(-(WINDOW_LENGTH + LEAD_LENGTH));
      this.#isCut = true;
    }
    const fresh = this.#text.length;
    this.#text += text;
    this.#length += text.length;
    const start = Math.max(this.#isCut ? LEAD_LENGTH : 0, fresh - WINDOW_LENGTH);
    const shown = Math.max(0, start - LEAD_LENGTH);
    return { text: this.#text.slice(shown), start: start - shown, fresh: fresh - shown };
  }

  /** Begins another text. */
  restart(): void {
    this.#text = "";
    this.#isCut = false;
    this.#length = 0;
  }
}
