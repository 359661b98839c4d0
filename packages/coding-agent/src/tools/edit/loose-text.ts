/** How far a text may be from the file's and still be the same. Each one includes those before it. */
export type Looseness = "typography" | "blanks" | "quotes";

/** A text without what models get wrong when they copy, and where each of its characters was. */
export interface LooseText {
  readonly text: string;
  /** Per character: start of what it represents in the source. */
  readonly starts: Uint32Array;
  /** Per character: end of what it represents in the source. */
  readonly ends: Uint32Array;
}

const curlySingle = /[\u2018-\u201B\u2032]/g;
const curlyDouble = /[\u201C-\u201F\u2033]/g;
const dashes = /[\u2010-\u2015\u2212]/g;
const spaces = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const onlyAscii = /^[\x00-\x7f]*$/;
/** A character with its combining marks: what Unicode normalization may turn into one character. */
const clusters = /\P{M}\p{M}*|\p{M}+/gsu;

/**
 * Takes out blanks at line ends, curly quotes, dashes, odd spaces and compatibility forms; with
 * `blanks` also indentation and how wide a blank is, with `quotes` also which quote it is. Line
 * breaks (LF) stay one to one.
 */
export function loosen(source: string, looseness: Looseness): LooseText {
  const sink = new Sink(looseness, source.length);
  let lineStart = 0;
  for (const line of source.split("\n")) {
    if (lineStart > 0) sink.add("\n", lineStart - 1, lineStart);
    sink.startLine();
    const kept = line.trimEnd();
    if (onlyAscii.test(kept)) {
      for (let index = 0; index < kept.length; index++) {
        sink.add(kept.charAt(index), lineStart + index, lineStart + index + 1);
      }
    } else {
      for (const { 0: cluster, index } of kept.matchAll(clusters)) {
        sink.add(plain(cluster), lineStart + index, lineStart + index + cluster.length);
      }
    }
    lineStart += line.length + 1;
  }
  return sink.finish();
}

class Sink {
  #text = "";
  #length = 0;
  #starts: Uint32Array;
  #ends: Uint32Array;
  readonly #joinsBlanks: boolean;
  readonly #joinsQuotes: boolean;
  #isIndentation = true;
  #endsInBlank = false;

  constructor(looseness: Looseness, expectedLength: number) {
    this.#starts = new Uint32Array(expectedLength + 16);
    this.#ends = new Uint32Array(expectedLength + 16);
    this.#joinsBlanks = looseness !== "typography";
    this.#joinsQuotes = looseness === "quotes";
  }

  startLine(): void {
    this.#isIndentation = true;
    this.#endsInBlank = false;
  }

  add(piece: string, start: number, end: number): void {
    if (this.#joinsBlanks && (piece === " " || piece === "\t")) {
      this.#addBlank(start, end);
      return;
    }
    this.#isIndentation = false;
    this.#endsInBlank = false;
    const isQuote = this.#joinsQuotes && (piece === '"' || piece === "`");
    this.#push(isQuote ? "'" : piece, start, end);
  }

  finish(): LooseText {
    const [starts, ends] = [this.#starts, this.#ends];
    return {
      text: this.#text,
      starts: starts.subarray(0, this.#length),
      ends: ends.subarray(0, this.#length),
    };
  }

  #addBlank(start: number, end: number): void {
    if (this.#isIndentation) return;
    if (this.#endsInBlank) this.#ends[this.#length - 1] = end;
    else this.#push(" ", start, end);
    this.#endsInBlank = true;
  }

  #push(piece: string, start: number, end: number): void {
    this.#text += piece;
    for (let index = 0; index < piece.length; index++) {
      if (this.#length === this.#starts.length) this.#grow();
      this.#starts[this.#length] = start;
      this.#ends[this.#length] = end;
      this.#length++;
    }
  }

  /** Ligatures become several characters. */
  #grow(): void {
    const [starts, ends] = [this.#starts, this.#ends];
    this.#starts = new Uint32Array(starts.length * 2);
    this.#starts.set(starts);
    this.#ends = new Uint32Array(ends.length * 2);
    this.#ends.set(ends);
  }
}

/** Plain characters for typographic ones. */
export function plain(text: string): string {
  return plainMarks(plainMarks(text).normalize("NFKC"));
}

function plainMarks(text: string): string {
  return plainQuotes(text).replace(dashes, "-").replace(spaces, " ");
}

/** Straight quotes for curly ones. */
export function plainQuotes(text: string): string {
  return text.replace(curlySingle, "'").replace(curlyDouble, '"');
}
