import { read } from "node:fs";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";
import { EntryScan, type LinePlace, type ScannedLine, unsure } from "../scan/index.ts";
import { readFailed } from "./read-failed.ts";
import type { FileTail } from "./read-session-file.ts";
import { MAX_LINE_BYTES, type RawEntry, RecordReader } from "./record-reader.ts";

const CHUNK_BYTES = 1024 * 1024;
const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];

export interface EntrySink {
  readonly add: (entry: RawEntry, header: SessionHeader, place: LinePlace) => void;
  /** Receives a usual message of a file of the current version; the line is valid only during the call. */
  readonly addScanned: (line: ScannedLine) => void;
}

export interface IndexedFile {
  /** Undefined if the file is empty. */
  readonly header: SessionHeader | undefined;
  readonly diagnostics: Diagnostic[];
  readonly tail: FileTail;
}

/**
 * Reads a session file like `readSessionFile`, with the same result for any bytes, but does not parse
 * usual messages (rows "100 000 entries: spawn, switch_session, RSS").
 *
 * @param descriptor - the file
 * @param after - the header, and where the entries begin; if absent, reading begins with the header
 * @throws {SessionError} `session_invalid` and `session_unreadable`, as `readSessionFile`
 */
export async function indexSessionFile(
  path: string,
  descriptor: number,
  sink: EntrySink,
  after?: { readonly header: SessionHeader; readonly start: number },
): Promise<IndexedFile> {
  const indexer = new Indexer(path, sink, after);
  try {
    while (await indexer.readFrom(descriptor));
  } catch (error) {
    throw readFailed(path, error);
  }
  return indexer.finish();
}

/** The same for the bytes of a file from its beginning, synchronously. */
export function indexBytes(path: string, pieces: Iterable<Buffer>, sink: EntrySink): IndexedFile {
  const indexer = new Indexer(path, sink);
  for (const piece of pieces) indexer.take(piece);
  return indexer.finish();
}

class Indexer {
  readonly #records: RecordReader;
  readonly #sink: EntrySink;
  readonly #scan = new EntryScan();
  readonly #text = new TextDecoder();
  /** Begins with the current incomplete line. */
  #buffer: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #filled = 0;
  /** The position of the buffer in the file. */
  #bufferStart = 0;
  /** The position of the current incomplete line in the file. */
  #lineStart = 0;
  /** The current incomplete line is too long to be an entry. */
  #isSkipping = false;
  /** The header has been read, and its version needs no migration. */
  #isCurrent = false;

  /** The place of the line that is being parsed. */
  #place: LinePlace = { start: 0, length: 0 };

  constructor(
    path: string,
    sink: EntrySink,
    after?: { readonly header: SessionHeader; readonly start: number },
  ) {
    this.#sink = sink;
    this.#records = new RecordReader(path, (raw, header) => sink.add(raw, header, this.#place));
    if (after === undefined) return;
    this.#records.header = after.header;
    this.#isCurrent = after.header.version === SESSION_VERSION;
    this.#bufferStart = after.start;
    this.#lineStart = after.start;
  }

  /** Reads and processes the next bytes; returns false at the end. */
  async readFrom(descriptor: number): Promise<boolean> {
    if (this.#filled === this.#buffer.length) this.#makeRoom();
    const position = this.#bufferStart + this.#filled;
    const bytesRead = await readInto(this.#buffer, this.#filled, descriptor, position);
    this.#note(bytesRead);
    return bytesRead > 0;
  }

  /** Processes the next bytes. */
  take(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#filled === this.#buffer.length) this.#makeRoom();
      const copied = piece.copy(this.#buffer, this.#filled, at);
      this.#note(copied);
      at += copied;
    }
  }

  #note(added: number): void {
    const searched = this.#filled;
    this.#filled += added;
    const lastFeed = this.#buffer.subarray(searched, this.#filled).lastIndexOf(LINE_FEED);
    if (lastFeed !== -1) this.#takeLines(searched + lastFeed + 1);
  }

  finish(): IndexedFile {
    const sizeBytes = this.#bufferStart + this.#filled;
    const isUnterminated = this.#filled > 0 || this.#isSkipping;
    this.#place = { start: this.#bufferStart, length: this.#filled };
    const text = this.#isSkipping ? undefined : this.#textBetween(0, this.#filled);
    const isTailComplete = !isUnterminated || this.#records.takeLast(text);
    this.#records.finish(sizeBytes);
    // A megabyte would otherwise wait for the next collection of garbage (row `session-memory`).
    this.#buffer.buffer.transfer(0);
    const { header, diagnostics } = this.#records;
    const unterminatedFrom = isUnterminated ? this.#lineStart : undefined;
    return { header, diagnostics, tail: { sizeBytes, unterminatedFrom, isTailComplete } };
  }

  #takeLines(end: number): void {
    let at = 0;
    if (this.#isSkipping) {
      this.#isSkipping = false;
      at = this.#buffer.indexOf(LINE_FEED) + 1;
      this.#records.take(undefined);
    }
    while (at < end) at = this.#takeLine(at);
    this.#buffer.copyWithin(0, end, this.#filled);
    this.#filled -= end;
    this.#bufferStart += end;
    this.#lineStart = this.#bufferStart;
  }

  /** Processes the line at an index; returns the index of the next line. */
  #takeLine(at: number): number {
    const scanned = this.#isCurrent ? this.#scan.scan(this.#buffer, at) : unsure;
    const next = scanned === unsure ? unsure : this.#lineEndAt(scanned);
    if (next !== unsure) {
      const start = this.#bufferStart + at;
      const line = { scan: this.#scan, bytes: this.#buffer, at, start, length: scanned - at };
      this.#records.noteEntry();
      this.#sink.addScanned(line);
      return next;
    }
    const end = this.#buffer.indexOf(LINE_FEED, at);
    this.#place = { start: this.#bufferStart + at, length: end - at };
    this.#records.take(this.#textBetween(at, end));
    this.#isCurrent = this.#records.header?.version === SESSION_VERSION;
    return end + 1;
  }

  /** The index after the line feed that directly follows an entry. */
  #lineEndAt(at: number): number {
    const feed = this.#buffer[at] === CARRIAGE_RETURN ? at + 1 : at;
    return this.#buffer[feed] === LINE_FEED ? feed + 1 : unsure;
  }

  #textBetween(from: number, to: number): string {
    const end = to > from && this.#buffer[to - 1] === CARRIAGE_RETURN ? to - 1 : to;
    return this.#text.decode(this.#buffer.subarray(from, end));
  }

  /** Grows the buffer, which contains only one incomplete line, or skips that line if it is too long. */
  #makeRoom(): void {
    if (this.#isSkipping || this.#filled > MAX_LINE_BYTES) {
      this.#isSkipping = true;
      this.#bufferStart += this.#filled;
      this.#filled = 0;
      return;
    }
    const larger = Buffer.allocUnsafeSlow(this.#buffer.length * 2);
    this.#buffer.copy(larger, 0, 0, this.#filled);
    this.#buffer = larger;
  }
}

function readInto(
  buffer: Buffer,
  offset: number,
  descriptor: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, offset, buffer.length - offset, position, (error, bytesRead) => {
      if (error === null) resolve(bytesRead);
      else reject(error);
    });
  });
}
