import { type FuzzyText, fuzzyText } from "./fuzzy-text.ts";

/** A place in a text. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** The place of a text if there is exactly one, and how many there are. */
export interface Found {
  readonly count: number;
  readonly match?: Match;
}

/** Looks for texts in one content: exactly, then fuzzily. */
export class MatchFinder {
  readonly #content: string;
  #fuzzy: FuzzyText | undefined;

  constructor(content: string) {
    this.#content = content;
  }

  find(wanted: string): Found {
    const exact = positions(this.#content, wanted, () => true);
    if (exact.count > 0) return found(exact, (start) => ({ start, end: start + wanted.length }));
    return this.#findFuzzily(wanted);
  }

  #findFuzzily(wanted: string): Found {
    const { text } = fuzzyText(wanted);
    if (text.trim() === "") return { count: 0 };
    this.#fuzzy ??= fuzzyText(this.#content);
    const { starts, ends, text: content } = this.#fuzzy;
    // Half of a character (the i of a ligature) does not match.
    const isWhole = (start: number) => {
      const end = start + text.length;
      return starts[start] !== starts[start - 1] && ends[end - 1] !== ends[end];
    };
    const hits = positions(content, text, isWhole);
    return found(hits, (start) => ({
      start: starts[start] ?? 0,
      end: ends[start + text.length - 1] ?? 0,
    }));
  }
}

interface Hits {
  readonly count: number;
  readonly first: number;
}

function found({ count, first }: Hits, matchAt: (start: number) => Match): Found {
  return count === 1 ? { count, match: matchAt(first) } : { count };
}

function positions(content: string, wanted: string, accepts: (start: number) => boolean): Hits {
  let count = 0;
  let first = -1;
  let from = 0;
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, from)) {
    from = at + 1;
    if (!accepts(at)) continue;
    if (count === 0) first = at;
    count++;
    // Only the second may overlap the first: one overlap makes a match ambiguous, and counting all
    // would be quadratic.
    if (count > 1) from = at + wanted.length;
  }
  return { count, first };
}
