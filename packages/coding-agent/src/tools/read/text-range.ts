import { TextDecoder } from "node:util";
import {
  incompleteCharacterBytes,
  maxOutputBytes,
  type TruncationResult,
  truncateHead,
} from "@tau-agent/system";

/** The requested lines of a file, within the limits. */
export interface TextRange {
  /** Its totals count the requested lines. */
  readonly truncation: TruncationResult;
  /** The number of lines in the whole file. */
  readonly fileLines: number;
  /** The size of the first requested line, in bytes. */
  readonly firstLineBytes: number;
  /** Whether the file has NUL bytes near its start. */
  readonly isBinary: boolean;
}

// Enough to detect that a limit is exceeded; nothing beyond the limit is shown.
const collectedBytes = maxOutputBytes + 8;
const newline = 10;

// A decoder for UTF-16, which is recognised by its byte order mark.
function wideDecoder(start: Buffer): TextDecoder | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder("utf-16le");
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder("utf-16be");
  return undefined;
}

/** Reads a file in chunks, and keeps only the part to show. */
export function createRangeCollector(firstLine: number, lineCount: number) {
  const collected: Buffer[] = [];
  let collectedLength = 0;
  /** The number of the line to which the next byte belongs, from 1. */
  let line = 1;
  let rangeBytes = 0;
  let firstLineBytes = 0;
  let endsWithNewline = true;
  let seenBytes = 0;
  let isFirst = true;
  let utf8: TextDecoder | undefined;
  let isBinary = false;
  const endLine = firstLine + lineCount;

  function addText(chunk: Buffer): void {
    if (chunk.length === 0) return;
    if (seenBytes < 8192) isBinary ||= chunk.subarray(0, 8192).includes(0);
    seenBytes += chunk.length;
    let from = 0;
    let start = line >= firstLine ? 0 : chunk.length;
    let end = line >= endLine ? 0 : chunk.length;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      if (line === firstLine) firstLineBytes += at - from;
      from = at + 1;
      line++;
      if (line === firstLine) start = from;
      if (line === endLine) end = from;
    }
    if (line === firstLine) firstLineBytes += chunk.length - from;
    endsWithNewline = from === chunk.length;
    if (start < end) collect(chunk.subarray(start, end));
  }

  function collect(part: Buffer): void {
    rangeBytes += part.length;
    const room = collectedBytes - collectedLength;
    if (room <= 0) return;
    const kept = Buffer.from(part.subarray(0, room));
    collected.push(kept);
    collectedLength += kept.length;
  }

  function kept(): string {
    const bytes = Buffer.concat(collected);
    const isCut = rangeBytes > bytes.length;
    const end = isCut ? bytes.length - incompleteCharacterBytes(bytes) : bytes.length;
    const text = bytes.toString("utf8", 0, end).replace(/^\uFEFF/, "");
    // If the range ends inside the file, the newline after it belongs to the rest.
    const isInside = line >= endLine && !(line === endLine && endsWithNewline);
    return isInside && !isCut ? text.replace(/\n$/, "") : text;
  }

  return {
    add(bytes: Buffer): void {
      if (bytes.length === 0) return;
      if (isFirst) utf8 = wideDecoder(bytes);
      isFirst = false;
      const decoder = utf8;
      addText(decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true })));
    },
    finish(): TextRange {
      const fileLines = line - (endsWithNewline ? 1 : 0);
      const text = kept();
      const shown = truncateHead(text);
      const lastLine = Math.min(fileLines, endLine - 1);
      const truncation = {
        ...shown,
        totalLines: Math.max(0, lastLine - firstLine + 1),
        totalBytes: rangeBytes,
      };
      return {
        truncation,
        fileLines,
        firstLineBytes,
        isBinary,
      };
    },
  };
}
