import { expressible } from "./plain-value.ts";

/** The default maximum length of an accepted line: 64 MiB. */
export const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** How much of a skipped line is kept: enough for an id at its beginning. */
const HEAD_BYTES = 256;

/** A complete line; or, if it exceeded the limit and was skipped, its size and beginning. */
export type DecodedLine = { text: string } | { oversizedBytes: number; head: string };

/**
 * Splits a byte stream into lines at LF only: U+2028 and U+2029 are ordinary characters in JSON, so a line
 * reader that splits there loses frames. Each byte is scanned once, however the stream is split.
 */
export class LineDecoder {
  readonly #maxBytes: number;
  readonly #keepBlankLines: boolean;
  readonly #text = new TextDecoder();
  #pieces: Uint8Array[] = [];
  #pendingBytes = 0;
  /** State of the line that is being skipped. */
  #head: string | undefined;

  /** `keepBlankLines` yields blank lines too, for readers that number lines. */
  constructor(maxBytes: number = DEFAULT_MAX_LINE_BYTES, options?: { keepBlankLines?: boolean }) {
    this.#maxBytes = maxBytes;
    this.#keepBlankLines = options?.keepBlankLines ?? false;
  }

  /** Takes the next bytes and returns the lines they complete. */
  *push(chunk: Uint8Array): Generator<DecodedLine, void> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      this.#take(chunk.subarray(start, end));
      yield* this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  /** The last line, when the stream ended without a line feed. */
  *end(): Generator<DecodedLine, void> {
    if (this.#pendingBytes > 0) yield* this.#finish();
  }

  #take(piece: Uint8Array): void {
    this.#pendingBytes += piece.length;
    if (piece.length > 0 && this.#head === undefined) this.#pieces.push(piece);
    if (this.#pendingBytes <= this.#maxBytes) return;
    this.#head ??= headOf(this.#pieces);
    this.#pieces = [];
  }

  *#finish(): Generator<DecodedLine, void> {
    const bytes = this.#pendingBytes;
    const pieces = this.#pieces;
    const head = this.#head;
    this.#pieces = [];
    this.#pendingBytes = 0;
    this.#head = undefined;
    if (head !== undefined) {
      yield { oversizedBytes: bytes, head };
      return;
    }
    const line = trimCarriageReturn(join(pieces, bytes));
    const text = this.#text.decode(line);
    if (this.#keepBlankLines || text.trim() !== "") yield { text };
  }
}

function headOf(pieces: readonly Uint8Array[]): string {
  const head = new Uint8Array(HEAD_BYTES);
  let offset = 0;
  for (const piece of pieces) {
    const part = piece.subarray(0, HEAD_BYTES - offset);
    head.set(part, offset);
    offset += part.length;
    if (offset === HEAD_BYTES) break;
  }
  return new TextDecoder().decode(head.subarray(0, offset));
}

function join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

function trimCarriageReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

const lineSeparators = /[\u2028\u2029]/g;

/**
 * Encodes a frame as a line of JSON with its LF. Escapes U+2028 and U+2029, so that simple line readers work
 * (lone surrogates are escaped by `JSON.stringify` itself). Replaces values that JSON cannot express (a
 * cycle, a BigInt), so that the frame is not lost.
 */
export function encodeLine(value: unknown): string {
  return `${escapeLineSeparators(stringify(value))}\n`;
}

/** JSON in which U+2028 and U+2029 are escaped, as in {@link encodeLine}. */
export function escapeLineSeparators(json: string): string {
  // A text of one-byte characters cannot contain them, which V8 knows without scanning; `replace` would scan
  // each character (row "100 000 entries: get_messages").
  if (!json.includes("\u2028") && !json.includes("\u2029")) return json;
  return json.replace(lineSeparators, (c) => (c === "\u2028" ? "\\u2028" : "\\u2029"));
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return JSON.stringify(expressible(value)) ?? "null";
  }
}
