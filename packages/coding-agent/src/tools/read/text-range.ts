import { TextDecoder } from "node:util";
import {
  incompleteCharacterBytes,
  maxOutputBytes,
  type TruncationResult,
  truncateHead,
} from "@tau-agent/system";

/** The requested lines of a file, as far as they are shown. */
export interface TextRange {
  /** Totals count the requested lines. */
  readonly truncation: TruncationResult;
  /** Lines of the whole file. */
  readonly fileLines: number;
  /** Bytes of the first requested line. */
  readonly firstLineBytes: number;
  /** Whether the file has NUL bytes near its start. */
  readonly isBinary: boolean;
}

// Enough to see that a limit is passed; nothing beyond it is ever shown.
const collectedBytes = maxOutputBytes + 8;
const newline = 10;

// UTF-16 is recognised by its byte order mark.
function wideDecoder(start: Buffer): TextDecoder | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder("utf-16le");
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder("utf-16be");
  return undefined;
}

/** Takes a file in pieces, and keeps only the part to show. */
export class RangeCollector {
  readonly #firstLine: number;
  readonly #endLine: number;
  readonly #collected: Buffer[] = [];
  #collectedLength = 0;
  /** The line the next byte belongs to, from 1. */
  #line = 1;
  #rangeBytes = 0;
  #firstLineBytes = 0;
  #endsWithNewline = true;
  #seenBytes = 0;
  #isFirst = true;
  #decoder: TextDecoder | undefined;
  #isBinary = false;

  constructor(firstLine: number, lineCount: number) {
    this.#firstLine = firstLine;
    this.#endLine = firstLine + lineCount;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#isFirst) this.#decoder = wideDecoder(bytes);
    this.#isFirst = false;
    const decoder = this.#decoder;
    this.#addText(
      decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true })),
    );
  }

  #addText(chunk: Buffer): void {
    if (chunk.length === 0) return;
    if (this.#seenBytes < 8192) this.#isBinary ||= chunk.subarray(0, 8192).includes(0);
    this.#seenBytes += chunk.length;
    let from = 0;
    let start = this.#line >= this.#firstLine ? 0 : chunk.length;
    let end = this.#line >= this.#endLine ? 0 : chunk.length;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      if (this.#line === this.#firstLine) this.#firstLineBytes += at - from;
      from = at + 1;
      this.#line++;
      if (this.#line === this.#firstLine) start = from;
      if (this.#line === this.#endLine) end = from;
    }
    if (this.#line === this.#firstLine) this.#firstLineBytes += chunk.length - from;
    this.#endsWithNewline = from === chunk.length;
    if (start < end) this.#collect(chunk.subarray(start, end));
  }

  finish(): TextRange {
    const fileLines = this.#line - (this.#endsWithNewline ? 1 : 0);
    const text = this.#text();
    const shown = truncateHead(text);
    const lastLine = Math.min(fileLines, this.#endLine - 1);
    const truncation = {
      ...shown,
      totalLines: Math.max(0, lastLine - this.#firstLine + 1),
      totalBytes: this.#rangeBytes,
    };
    return {
      truncation,
      fileLines,
      firstLineBytes: this.#firstLineBytes,
      isBinary: this.#isBinary,
    };
  }

  #collect(part: Buffer): void {
    this.#rangeBytes += part.length;
    const room = collectedBytes - this.#collectedLength;
    if (room <= 0) return;
    const kept = Buffer.from(part.subarray(0, room));
    this.#collected.push(kept);
    this.#collectedLength += kept.length;
  }

  #text(): string {
    const bytes = Buffer.concat(this.#collected);
    const isCut = this.#rangeBytes > bytes.length;
    const end = isCut ? bytes.length - incompleteCharacterBytes(bytes) : bytes.length;
    const text = bytes.toString("utf8", 0, end).replace(/^\uFEFF/, "");
    // A part that ends inside the file is a list of lines; the newline after it belongs to the rest.
    const isInside =
      this.#line >= this.#endLine && !(this.#line === this.#endLine && this.#endsWithNewline);
    return isInside && !isCut ? text.replace(/\n$/, "") : text;
  }
}
