import type { SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import {
  EntryColumns,
  IdTable,
  type LinePlace,
  type ScannedLine,
  type ScannedRole,
  shortIdOf,
  shortKey,
  textIn,
} from "./scan/index.ts";

/** Reads entries that were scanned but not parsed; implemented by `LineReader`. */
export interface EntrySource {
  read(place: LinePlace): Buffer;
  entry(place: LinePlace): SessionEntry;
  values(places: Iterable<LinePlace>): unknown[];
  lists(places: Iterable<LinePlace>, isKept: boolean): Iterable<Buffer>;
}

/** The known facts about each entry of a session, by its position in the file. */
export class EntryRows {
  /** The ids of the prompts in the session, on every branch. */
  readonly promptIds = new Set<string>();
  readonly columns: EntryColumns;
  /** The parsed entries, in file order. */
  readonly parsed: SessionEntry[] = [];
  /** The positions by id. */
  readonly positions: IdTable;
  /** The index of each entry's parent, always smaller than its own; -1 for a root. */
  readonly parents: number[] = [];
  /** How many scanned entries have not been read yet. */
  unread = 0;
  source: EntrySource | undefined;
  /** Scanned entries are undefined until they are read. */
  readonly #entries: (SessionEntry | undefined)[] = [];
  /** The ids of prompts, by the positions of scanned entries. */
  readonly #promptAt = new Map<number, string>();

  /** @param expected - the approximate number of entries to come */
  constructor(expected = 0) {
    this.columns = new EntryColumns(expected);
    this.positions = new IdTable(expected);
  }

  /** The number of entries. */
  get length(): number {
    return this.#entries.length;
  }

  get entries(): readonly (SessionEntry | undefined)[] {
    return this.#entries;
  }

  /** The source for entries that were only scanned. */
  get file(): EntrySource {
    if (this.source === undefined) throw new Error("A scanned entry needs its file");
    return this.source;
  }

  /** Reserves positions for entries that are not known yet. */
  skip(count: number): void {
    this.#entries.length = count;
    for (let position = this.parents.length; position < count; position++) this.parents.push(-1);
  }

  /** Stores an entry at a reserved position. */
  fill(position: number, entry: SessionEntry): void {
    this.#entries[position] = entry;
    this.parsed.push(entry);
    this.positions.set(entry.id, position);
  }

  /** The role of a message that was only scanned; undefined for every other entry. */
  roleAt(position: number): ScannedRole | undefined {
    return this.columns.roleAt(position);
  }

  idAt(position: number): string {
    const isUnread = this.#entries[position] === undefined;
    const shortId = isUnread ? this.columns.shortIdAt(position) : undefined;
    return shortId === undefined ? this.entryAt(position).id : shortIdOf(shortId);
  }

  entryAt(position: number): SessionEntry {
    const known = this.#entries[position];
    if (known !== undefined) return known;
    const entry = this.file.entry(this.columns.placeOf(position));
    this.#entries[position] = entry;
    this.unread -= 1;
    return entry;
  }

  /** Adds a parsed entry. */
  add(entry: SessionEntry, parent: number): void {
    this.parents.push(parent);
    this.positions.set(entry.id, this.length);
    this.parsed.push(entry);
    this.#entries.push(entry);
    const { type, promptId } = entry as SessionEntryOf<"message">;
    if (type === "message" && promptId !== undefined) this.promptIds.add(promptId);
  }

  /** Adds a scanned entry; returns the number of its id if that is short. */
  addScanned(line: ScannedLine, parent: number): number | undefined {
    const { scan, bytes } = line;
    const position = this.length;
    this.parents.push(parent);
    const shortId = shortKey(bytes, scan.idStart, scan.idEnd);
    if (shortId === undefined) {
      this.positions.set(textIn(bytes, scan.idStart, scan.idEnd), position);
    } else this.positions.setShort(shortId, position);
    this.columns.add(position, line, shortId);
    if (scan.promptEnd > 0) {
      this.#notePrompt(position, textIn(bytes, scan.promptStart, scan.promptEnd));
    }
    this.#addUnread();
    return shortId;
  }

  /**
   * Adds a copy of a scanned entry from another session, with its line at `start`; returns the same
   * as {@link addScanned}.
   */
  addCopy(
    from: EntryRows,
    { fromPosition, start }: { readonly fromPosition: number; readonly start: number },
    parent: number,
  ): number | undefined {
    const position = this.length;
    const shortId = from.columns.shortIdAt(fromPosition);
    this.parents.push(parent);
    if (shortId === undefined) this.positions.set(from.entryAt(fromPosition).id, position);
    else this.positions.setShort(shortId, position);
    this.columns.copy(position, from.columns, { fromPosition, start });
    const promptId = from.#promptAt.get(fromPosition);
    if (promptId !== undefined) this.#notePrompt(position, promptId);
    this.#addUnread();
    return shortId;
  }

  #notePrompt(position: number, promptId: string): void {
    this.promptIds.add(promptId);
    this.#promptAt.set(position, promptId);
  }

  #addUnread(): void {
    this.#entries.push(undefined);
    this.unread += 1;
  }
}
