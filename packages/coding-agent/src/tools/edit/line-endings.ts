/** A text with LF line endings, and a mapping back to offsets in the original. */
export class NormalizedText {
  readonly raw: string;
  readonly text: string;
  /** The most frequent line ending of the original. */
  readonly lineEnd: string;
  /** Offsets in `text` of the LFs that replace CR LF. */
  readonly #pairs: number[] = [];

  constructor(raw: string) {
    this.raw = raw;
    this.text = toLineFeeds(raw);
    for (let at = raw.indexOf("\r\n"); at !== -1; at = raw.indexOf("\r\n", at + 2)) {
      this.#pairs.push(at - this.#pairs.length);
    }
    this.lineEnd = mostFrequentLineEnd(raw, this.#pairs.length);
  }

  /** The original offset for an offset in `text`. */
  rawOffset(offset: number): number {
    let low = 0;
    let high = this.#pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pairs[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  }
}

/** Converts CR LF and CR to LF. */
export function toLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

function mostFrequentLineEnd(raw: string, pairs: number): string {
  const lineFeeds = count(raw, "\n") - pairs;
  const returns = count(raw, "\r") - pairs;
  if (pairs > lineFeeds && pairs >= returns) return "\r\n";
  return returns > lineFeeds ? "\r" : "\n";
}

function count(text: string, character: string): number {
  let total = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) total++;
  return total;
}
