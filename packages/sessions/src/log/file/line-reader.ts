import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { LinePlace } from "../scan/index.ts";

const WINDOW_BYTES = 256 * 1024;
/**
 * V8 allocates a string of more than 128 KiB outside of the young generation, which triggers a full
 * garbage collection.
 */
const BATCH_BYTES = 16 * 1024;
/** Bytes that are not decoded are best passed on in large pieces; a short list does not need them. */
const [FIRST_KEPT_BYTES, KEPT_BATCH_BYTES] = [8 * 1024, 128 * 1024];
const COMMA = 0x2c;
const noBytes = Buffer.alloc(0);

/**
 * Reads single lines of a session file again. It keeps its own descriptor, so a file that is deleted
 * during use can still be read.
 */
export class LineReader {
  readonly #path: string;
  readonly #inode: string;
  /** The descriptor of the file, open from the beginning until {@link close}. */
  readonly descriptor: number;
  #isOpen = true;
  /** The buffer for the window. */
  #room: Buffer | undefined;
  /** The part of the buffer that was filled from the file. */
  #window: Buffer = noBytes;
  #windowStart = 0;

  /** @param descriptor - an open descriptor of the file, which this object closes */
  constructor(path: string, descriptor: number) {
    this.#path = path;
    this.descriptor = descriptor;
    this.#inode = inodeOf(descriptor);
  }

  /** The current size of the file, which may grow; valid until it is closed. */
  get sizeBytes(): number {
    return fstatSync(this.descriptor).size;
  }

  /**
   * The bytes of a line, valid until the next call.
   *
   * @throws {SessionError} `session_changed`
   */
  read({ start, length }: LinePlace): Buffer {
    const offset = start - this.#windowStart;
    if (offset >= 0 && offset + length <= this.#window.length) {
      return this.#window.subarray(offset, offset + length);
    }
    // Aligned, so that readers in both directions load each window only once.
    const windowStart = start - (start % WINDOW_BYTES);
    if (start + length > windowStart + WINDOW_BYTES) return this.bytes({ start, length });
    // Larger windows are returned to the system when they are replaced, and each page of a new one costs time.
    this.#room ??= Buffer.allocUnsafeSlow(WINDOW_BYTES);
    this.#window = noBytes;
    this.#window = this.#readInto(this.#room, windowStart, start + length - windowStart);
    this.#windowStart = windowStart;
    return this.read({ start, length });
  }

  /**
   * The bytes of a range.
   *
   * @param room - the buffer to use; by default a new one
   * @throws {SessionError} `session_changed`
   */
  bytes({ start, length }: LinePlace, room = Buffer.allocUnsafeSlow(length)): Buffer {
    return this.#readInto(room.subarray(0, length), start, length);
  }

  /**
   * Parses a scanned entry. It needs no repair, or it would have been parsed immediately.
   *
   * @throws {SessionError} `session_changed`
   */
  entry(place: LinePlace): SessionEntry {
    return this.#parse(this.read(place).toString()) as SessionEntry;
  }

  /**
   * The JSON of several values in batches, each a list without its brackets. Reading and parsing
   * many together takes half the time (rows `session-get-messages` and `session-first-request`).
   *
   * @param isKept - whether batches stay valid; otherwise only until the next one
   * @throws {SessionError} `session_changed`
   */
  *lists(places: Iterable<LinePlace>, isKept = false): Generator<Buffer> {
    let batch = Buffer.allocUnsafeSlow(isKept ? FIRST_KEPT_BYTES : BATCH_BYTES);
    let filled = 0;
    for (const place of places) {
      if (filled + place.length + 1 > batch.length && filled > 0) {
        yield batch.subarray(0, filled);
        if (isKept) {
          batch = Buffer.allocUnsafeSlow(Math.min(2 * batch.length, KEPT_BATCH_BYTES));
        }
        filled = 0;
      }
      const value = this.read(place);
      if (place.length > batch.length) {
        yield isKept ? Buffer.from(value) : value;
        continue;
      }
      if (filled > 0) {
        batch[filled] = COMMA;
        filled += 1;
      }
      filled += value.copy(batch, filled);
    }
    if (filled > 0) yield batch.subarray(0, filled);
  }

  /**
   * Parses several values.
   *
   * @throws {SessionError} `session_changed`
   */
  values(places: Iterable<LinePlace>): unknown[] {
    const values: unknown[] = [];
    for (const list of this.lists(places)) {
      for (const value of this.#parse(`[${list.toString()}]`) as unknown[]) values.push(value);
    }
    return values;
  }

  /**
   * Reads a range in pieces, each valid until the next one is read.
   *
   * @throws {SessionError} `session_changed`
   */
  *pieces({ start, length }: LinePlace): Generator<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, length));
    for (let from = start; from < start + length; from += WINDOW_BYTES) {
      const size = Math.min(WINDOW_BYTES, start + length - from);
      yield this.#readInto(buffer.subarray(0, size), from, size);
    }
  }

  /** Closes the descriptor. Later reads use the file at the path, if it is still the same. */
  close(): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
    this.#window = noBytes;
    this.#room = undefined;
  }

  #parse(json: string): unknown {
    try {
      return JSON.parse(json);
    } catch (error) {
      // The line was valid when it was scanned.
      throw new SessionError("session_changed", { path: this.#path }, { cause: error });
    }
  }

  /** Fills a buffer from `start` on, with at least `needed` bytes. */
  #readInto(buffer: Buffer, start: number, needed: number): Buffer {
    const { length } = buffer;
    const read = this.#with((descriptor) => {
      let filled = 0;
      for (;;) {
        const count = readSync(descriptor, buffer, filled, length - filled, start + filled);
        filled += count;
        if (count === 0 || filled === length) return filled;
      }
    });
    if (read < needed) throw new SessionError("session_changed", { path: this.#path });
    return buffer.subarray(0, read);
  }

  #with<Result>(read: (descriptor: number) => Result): Result {
    if (this.#isOpen) return read(this.descriptor);
    const descriptor = openSync(this.#path, "r");
    try {
      if (inodeOf(descriptor) !== this.#inode) {
        throw new SessionError("session_changed", { path: this.#path });
      }
      return read(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

function inodeOf(descriptor: number): string {
  const { dev, ino } = fstatSync(descriptor);
  return `${dev} ${ino}`;
}
