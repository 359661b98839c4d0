/** How much a text may differ from the file's and still match. Each level includes the previous ones. */
export type Looseness = "typography" | "blanks" | "quotes";

/** A text without the details that models copy wrongly, and the original position of each character. */
export interface LooseText {
  readonly text: string;
  /** For each character, the start of what it represents in the source. */
  readonly starts: Uint32Array;
  /** For each character, the end of what it represents in the source. */
  readonly ends: Uint32Array;
}

const curlySingle = /[\u2018-\u201B\u2032]/g;
const curlyDouble = /[\u201C-\u201F\u2033]/g;
const dashes = /[\u2010-\u2015\u2212]/g;
const spaces = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;
/** A character with its combining marks, which Unicode normalization may merge into one. */
const clusters = /\P{M}\p{M}*|\p{M}+/gsu;

/**
 * Removes trailing spaces, and normalises curly quotes, dashes, unusual spaces and compatibility
 * forms. With `blanks` it also ignores indentation and the width of spaces, with `quotes` also the
 * kind of quotes. Line breaks (LF) are kept one to one.
 */
export function loosen(source: string, looseness: Looseness): LooseText {
  const sink = createSink(looseness, source.length);
  for (let start = 0; start <= source.length; ) {
    if (start > 0) sink.addCode(lineFeed, start - 1, start);
    sink.startLine();
    const found = source.indexOf("\n", start);
    const end = found === -1 ? source.length : found;
    if (isAscii(source, start, end)) addAscii(sink, source, { start, end });
    else addLine(sink, source.slice(start, end), start);
    start = end + 1;
  }
  return sink.finish();
}

const lineFeed = 10;
const tab = 9;
const carriageReturn = 13;
const blank = 32;
const [singleQuote, doubleQuote, backtick] = [39, 34, 96];

function isAscii(source: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (source.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** Avoids a string for each character of an ASCII line: files have millions of them. */
function addAscii(
  sink: Sink,
  source: string,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  let last = end;
  while (last > start && isBlank(source.charCodeAt(last - 1))) last--;
  for (let at = start; at < last; at++) sink.addCode(source.charCodeAt(at), at, at + 1);
}

function isBlank(code: number): boolean {
  return code === blank || (code >= tab && code <= carriageReturn);
}

function addLine(sink: Sink, line: string, lineStart: number): void {
  for (const { 0: cluster, index } of line.trimEnd().matchAll(clusters)) {
    const [start, end] = [lineStart + index, lineStart + index + cluster.length];
    const piece = plain(cluster);
    // Only a single character can be a space or a quote.
    if (piece.length === 1) sink.addCode(piece.charCodeAt(0), start, end);
    else sink.addPiece(piece, start, end);
  }
}

function createSink(looseness: Looseness, expectedLength: number) {
  let length = 0;
  let isIndentation = true;
  let endsInBlank = false;
  let ownCodes: Uint16Array = new Uint16Array(expectedLength + 16);
  let ownStarts: Uint32Array = new Uint32Array(expectedLength + 16);
  let ownEnds: Uint32Array = new Uint32Array(expectedLength + 16);
  const joinsBlanks = looseness !== "typography";
  const joinsQuotes = looseness === "quotes";

  function addBlank(start: number, end: number): void {
    if (isIndentation) return;
    if (endsInBlank) ownEnds[length - 1] = end;
    else push(blank, start, end);
    endsInBlank = true;
  }

  function push(code: number, start: number, end: number): void {
    if (length === ownStarts.length) grow();
    ownCodes[length] = code;
    ownStarts[length] = start;
    ownEnds[length] = end;
    length++;
  }

  /** Needed because a ligature becomes several characters. */
  function grow(): void {
    const [codes, starts, ends] = [ownCodes, ownStarts, ownEnds];
    ownCodes = new Uint16Array(starts.length * 2);
    ownCodes.set(codes);
    ownStarts = new Uint32Array(starts.length * 2);
    ownStarts.set(starts);
    ownEnds = new Uint32Array(starts.length * 2);
    ownEnds.set(ends);
  }

  return {
    startLine(): void {
      isIndentation = true;
      endsInBlank = false;
    },
    addCode(code: number, start: number, end: number): void {
      if (joinsBlanks && (code === blank || code === tab)) {
        addBlank(start, end);
        return;
      }
      isIndentation = false;
      endsInBlank = false;
      const isQuote = joinsQuotes && (code === doubleQuote || code === backtick);
      push(isQuote ? singleQuote : code, start, end);
    },
    addPiece(piece: string, start: number, end: number): void {
      isIndentation = false;
      endsInBlank = false;
      for (let at = 0; at < piece.length; at++) push(piece.charCodeAt(at), start, end);
    },
    finish(): LooseText {
      const { buffer } = ownCodes;
      return {
        text: Buffer.from(buffer, 0, length * 2).toString("utf16le"),
        starts: ownStarts.subarray(0, length),
        ends: ownEnds.subarray(0, length),
      };
    },
  };
}

type Sink = ReturnType<typeof createSink>;

/** Replaces typographic characters with plain ones. */
export function plain(text: string): string {
  return plainMarks(plainMarks(text).normalize("NFKC"));
}

function plainMarks(text: string): string {
  return plainQuotes(text).replace(dashes, "-").replace(spaces, " ");
}

export function plainQuotes(text: string): string {
  return text.replace(curlySingle, "'").replace(curlyDouble, '"');
}
