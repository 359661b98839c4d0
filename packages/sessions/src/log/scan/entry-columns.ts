import type { EntryScan } from "./entry-scan.ts";
import { ASSISTANT, FAILED, type ScannedRole, scannedRoles } from "./scanned-role.ts";
import type { ScannedUsage } from "./usage-scan.ts";

/** The place of an entry's line, or of a value in it, in the file. */
export interface LinePlace {
  readonly start: number;
  /** The length of a line, without the line feed. */
  readonly length: number;
}

/** A scanned entry: its place in the file, and in the current buffer. */
export interface ScannedLine extends LinePlace {
  readonly scan: EntryScan;
  readonly bytes: Uint8Array;
  /** The beginning of the line in `bytes`. */
  readonly at: number;
}

/** The facts about an unparsed message that the totals of a session count. */
export interface ScannedMessage extends ScannedUsage {
  readonly role: ScannedRole;
  readonly timeMs: number;
  readonly toolCalls: number;
}

const FIRST_ROWS = 1024;
/** The numbers of a row: the start of its line, its time, then the six numbers of its usage. */
const [START, TIME, USAGE, WIDTH] = [0, 1, 2, 8];
/** The counts of a row. */
const [LENGTH, MESSAGE_OFFSET, MESSAGE_LENGTH, TOOL_CALLS, SHORT_ID, COUNTS] = [0, 1, 2, 3, 4, 5];
/** Marks the role of an entry whose id is not short. */
const LONG_ID = 0x80;

/**
 * The known facts about entries that were scanned but not parsed: 85 bytes each, while an object takes
 * a thousand (row "100 000 entries compacted: RSS").
 */
export class EntryColumns {
  #roles: Uint8Array;
  #numbers: Float64Array;
  #counts: Uint32Array;
  readonly #message = {
    role: scannedRoles[0] as ScannedRole,
    timeMs: 0,
    toolCalls: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: 0,
  };

  /** @param expected - the approximate number of entries to come, which avoids moving them to larger columns */
  constructor(expected = 0) {
    this.#roles = new Uint8Array(expected);
    this.#numbers = new Float64Array(expected * WIDTH);
    this.#counts = new Uint32Array(expected * COUNTS);
  }

  /** The role of a scanned entry; undefined for a parsed one. */
  roleAt(position: number): ScannedRole | undefined {
    // 0 is for parsed entries.
    return scannedRoles[((this.#roles[position] ?? 0) & ~LONG_ID) - 1];
  }

  /** Stores an entry; `shortId` is the number of its id if that is short. */
  add(position: number, line: ScannedLine, shortId: number | undefined): void {
    const { scan } = line;
    this.#reserve(position);
    const { message } = scan;
    const role = message.role + 1;
    this.#roles[position] = shortId === undefined ? role | LONG_ID : role;
    const row = position * WIDTH;
    const numbers = this.#numbers;
    numbers[row + START] = line.start;
    numbers[row + TIME] = scan.timeMs;
    if (message.role === ASSISTANT || message.role === FAILED) {
      const { usage } = message;
      for (let index = 0; index < WIDTH - USAGE; index++) {
        numbers[row + USAGE + index] = usage[index] as number;
      }
    }
    const counts = position * COUNTS;
    this.#counts[counts + LENGTH] = line.length;
    this.#counts[counts + MESSAGE_OFFSET] = scan.messageStart - line.at;
    this.#counts[counts + MESSAGE_LENGTH] = scan.messageEnd - scan.messageStart;
    this.#counts[counts + TOOL_CALLS] = message.toolCalls;
    this.#counts[counts + SHORT_ID] = shortId ?? 0;
  }

  /** Stores an entry of another file whose line is copied to `start`. */
  copy(
    position: number,
    from: EntryColumns,
    { fromPosition, start }: { fromPosition: number; start: number },
  ): void {
    this.#reserve(position);
    this.#roles[position] = from.#roles[fromPosition] as number;
    copyRow(this.#numbers, position * WIDTH, from.#numbers, fromPosition * WIDTH, WIDTH);
    copyRow(this.#counts, position * COUNTS, from.#counts, fromPosition * COUNTS, COUNTS);
    this.#numbers[position * WIDTH + START] = start;
  }

  /** The number of a scanned entry's id; undefined if the id is not short. */
  shortIdAt(position: number): number | undefined {
    if (((this.#roles[position] ?? 0) & LONG_ID) !== 0) return undefined;
    return this.#counts[position * COUNTS + SHORT_ID];
  }

  placeOf(position: number): LinePlace {
    return {
      start: this.#numbers[position * WIDTH + START] as number,
      length: this.#counts[position * COUNTS + LENGTH] as number,
    };
  }

  messagePlaceOf(position: number): LinePlace {
    const { start } = this.placeOf(position);
    return {
      start: start + (this.#counts[position * COUNTS + MESSAGE_OFFSET] as number),
      length: this.#counts[position * COUNTS + MESSAGE_LENGTH] as number,
    };
  }

  /** The facts about a scanned entry that the totals count; valid until the next call. */
  messageAt(position: number, role: ScannedRole): ScannedMessage {
    const row = position * WIDTH;
    const numbers = this.#numbers;
    // One object is reused: a session may have a hundred thousand messages (row "100 000 entries: spawn").
    const message = this.#message;
    message.role = role;
    message.toolCalls = this.#counts[position * COUNTS + TOOL_CALLS] as number;
    message.timeMs = numbers[row + TIME] as number;
    message.input = numbers[row + USAGE] as number;
    message.output = numbers[row + USAGE + 1] as number;
    message.cacheRead = numbers[row + USAGE + 2] as number;
    message.cacheWrite = numbers[row + USAGE + 3] as number;
    message.totalTokens = numbers[row + USAGE + 4] as number;
    message.cost = numbers[row + USAGE + 5] as number;
    return message;
  }

  #reserve(position: number): void {
    if (position < this.#roles.length) return;
    const rows = Math.max(FIRST_ROWS, this.#roles.length * 2, position + 1);
    this.#roles = grown(this.#roles, new Uint8Array(rows));
    this.#numbers = grown(this.#numbers, new Float64Array(rows * WIDTH));
    this.#counts = grown(this.#counts, new Uint32Array(rows * COUNTS));
  }
}

/** Copies a row; creating a view of each row would take longer (row "100 000 entries: fork"). */
function copyRow(
  to: Float64Array | Uint32Array,
  at: number,
  from: Float64Array | Uint32Array,
  start: number,
  width: number,
): void {
  for (let index = 0; index < width; index++) to[at + index] = from[start + index] as number;
}

function grown<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
