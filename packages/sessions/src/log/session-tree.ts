import type { SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { createEntryId } from "./entries/entry-id.ts";
import {
  EntryColumns,
  IdTable,
  type LinePlace,
  type ScannedLine,
  type ScannedMessage,
  type ScannedRole,
  shortIdOf,
  shortKey,
  textIn,
} from "./scan/index.ts";

const noPosition = -1;

/** Which entries to return by the role of their message; undefined for those that were parsed. */
export type RoleFilter = (role: ScannedRole | undefined) => boolean;

/** Reads what was scanned and not parsed; `LineReader` is one. */
export interface EntrySource {
  read(place: LinePlace): Buffer;
  entry(place: LinePlace): SessionEntry;
  values(places: Iterable<LinePlace>): unknown[];
  lists(places: Iterable<LinePlace>, isKept: boolean): Iterable<Buffer>;
}

/**
 * The entries of a session as a tree in memory. Appending adds a child of the leaf and moves the
 * leaf; nothing is ever changed or removed. Messages that were only scanned are parsed when someone
 * asks for them; {@link roleAt} and {@link scannedAt} say what is known without.
 */
export class SessionTree {
  /** The ids of the prompts in the session, on every branch. */
  readonly promptIds = new Set<string>();
  /** Of the scanned entries that are prompts. */
  readonly #promptAt = new Map<number, string>();
  #source: EntrySource | undefined;
  readonly #columns: EntryColumns;
  /** Scanned ones are undefined until they are read. */
  readonly #entries: (SessionEntry | undefined)[] = [];
  readonly #parsed: SessionEntry[] = [];
  readonly #positions: IdTable;
  /**
   * The index of each entry's parent, always smaller than its own; none for a root. If the parent
   * is missing from the file (its line was damaged), it is the preceding entry.
   */
  readonly #parents: number[] = [];
  /** The entry whose child the next one is: its position, or its id. */
  #leafAt: number | undefined;
  #leafId: string | null = null;
  /** The number of the id of the entry at {@link #leafAt}, if that is short. */
  #shortLeaf: number | undefined;
  /** How many entries wait to be read. */
  #unread = 0;

  /** @param expected - about how many entries there will be */
  constructor(expected = 0) {
    this.#columns = new EntryColumns(expected);
    this.#positions = new IdTable(expected);
  }

  /** Says where to read entries that are only scanned. */
  readFrom(source: EntrySource): void {
    this.#source = source;
  }

  /** All entries in the order of the file. Reads those that were only scanned. */
  get entries(): readonly SessionEntry[] {
    for (let position = 0; this.#unread > 0 && position < this.length; position++) {
      this.#entryAt(position);
    }
    return this.#entries as readonly SessionEntry[];
  }

  /** How many entries there are. */
  get length(): number {
    return this.#entries.length;
  }

  /** Whether no entry has to be read from the file any more. */
  get isRead(): boolean {
    return this.#unread === 0;
  }

  /** The parent of the next entry; null before the first. */
  get leafId(): string | null {
    return this.#leafAt === undefined ? this.#leafId : this.idAt(this.#leafAt);
  }

  /** Moves the leaf; the next append starts a branch there. The id must exist. */
  moveLeaf(id: string | null): void {
    this.#leafAt = undefined;
    this.#leafId = id;
  }

  /** The entry with this id. */
  get(id: string): SessionEntry | undefined {
    const position = this.#positions.get(id);
    return position === undefined ? undefined : this.#entryAt(position);
  }

  /** The entry's index in {@link entries}. */
  indexOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** The entry at an index of {@link entries}. */
  at(position: number): SessionEntry | undefined {
    return position >= 0 && position < this.length ? this.#entryAt(position) : undefined;
  }

  /** The id of the entry at an index, which is not read for it. */
  idAt(position: number): string {
    const isUnread = this.#entries[position] === undefined;
    const shortId = isUnread ? this.#columns.shortIdAt(position) : undefined;
    return shortId === undefined ? this.#entryAt(position).id : shortIdOf(shortId);
  }

  /** The entries from an index on. */
  slice(start: number): SessionEntry[] {
    return Array.from({ length: Math.max(0, this.length - start) }, (_, index) =>
      this.#entryAt(start + index),
    );
  }

  /** The role of a message that was only scanned; undefined for every other entry. */
  roleAt(position: number): ScannedRole | undefined {
    return this.#columns.roleAt(position);
  }

  /**
   * What the totals count of a message that was only scanned, valid until the next call; undefined for
   * every other entry.
   */
  scannedAt(position: number): ScannedMessage | undefined {
    const role = this.#columns.roleAt(position);
    return role === undefined ? undefined : this.#columns.messageAt(position, role);
  }

  /** The line of a message that was only scanned; undefined for every other entry. */
  lineAt(position: number): LinePlace | undefined {
    return this.roleAt(position) === undefined ? undefined : this.#columns.placeOf(position);
  }

  /** The messages of entries that were only scanned; they are not kept. */
  messagesAt(positions: readonly number[]): AgentMessage[] {
    if (positions.length === 0) return [];
    return this.#file.values(this.#messagePlaces(positions)) as AgentMessage[];
  }

  /** The JSON of the message of an entry that was only scanned, valid until the next call. */
  messageBytes(position: number): Buffer {
    return this.#file.read(this.#columns.messagePlaceOf(position));
  }

  /** The same of several, in batches: each is a list without its brackets. */
  messageLists(positions: readonly number[]): Iterable<Buffer> {
    return this.#file.lists(this.#messagePlaces(positions), true);
  }

  /** The entries that were not only scanned, in the order of the file: everything except usual messages. */
  get parsed(): readonly SessionEntry[] {
    return this.#parsed;
  }

  /** Fields every new entry starts with: a fresh id, the leaf as parent, the time (default now). */
  createNode(time = new Date()): { id: string; parentId: string | null; timestamp: string } {
    return {
      id: createEntryId((id) => this.#positions.get(id) !== undefined),
      parentId: this.leafId,
      timestamp: time.toISOString(),
    };
  }

  /** Adds a written entry and makes it the leaf. */
  adopt(entry: SessionEntry): void {
    const { id, parentId } = entry;
    const parent = parentId === null ? undefined : this.#positions.get(parentId);
    this.#parents.push(parentId === null ? noPosition : (parent ?? this.#leafPosition()));
    this.#positions.set(id, this.length);
    this.#parsed.push(entry);
    this.#entries.push(entry);
    this.moveLeaf(id);
    const { type, promptId } = entry as SessionEntryOf<"message">;
    if (type === "message" && promptId !== undefined) this.promptIds.add(promptId);
  }

  /** Adds an entry of the file that was scanned, and makes it the leaf. */
  adoptScanned(line: ScannedLine): void {
    const { scan, bytes } = line;
    const position = this.length;
    this.#parents.push(this.#parentOf(line));
    const shortId = shortKey(bytes, scan.idStart, scan.idEnd);
    if (shortId === undefined) {
      this.#positions.set(textIn(bytes, scan.idStart, scan.idEnd), position);
    } else this.#positions.setShort(shortId, position);
    this.#columns.add(position, line, shortId);
    if (scan.promptEnd > 0) {
      this.#notePrompt(position, textIn(bytes, scan.promptStart, scan.promptEnd));
    }
    this.#addUnread(shortId);
  }

  /** Adds a copy of another tree's scanned entry, whose line was written to `start`, as {@link adopt}. */
  adoptCopy(from: SessionTree, fromPosition: number, start: number): void {
    const position = this.length;
    const shortId = from.#columns.shortIdAt(fromPosition);
    this.#parents.push(this.#leafPosition());
    if (shortId === undefined) this.#positions.set(from.#entryAt(fromPosition).id, position);
    else this.#positions.setShort(shortId, position);
    this.#columns.copy(position, from.#columns, { fromPosition, start });
    const promptId = from.#promptAt.get(fromPosition);
    if (promptId !== undefined) this.#notePrompt(position, promptId);
    this.#addUnread(shortId);
  }

  /**
   * The positions from the root to `leafId`; with `wants`, only those. Walking {@link positions} takes ten
   * times as long (rows "100 000 entries").
   */
  branchPositions(leafId: string | null = this.leafId, wants: RoleFilter = () => true): number[] {
    // Ids are duplicated only in files that someone put together from others.
    if (this.#positions.size < this.length) {
      const all = [...this.positions(leafId)].reverse();
      return all.filter((position) => wants(this.roleAt(position)));
    }
    const found: number[] = [];
    let position = this.#positionOf(leafId);
    while (position !== noPosition) {
      if (wants(this.roleAt(position))) found.push(position);
      position = this.#parents[position] ?? noPosition;
    }
    return found.reverse();
  }

  /** The positions from `leafId` back to the root. */
  *positions(leafId: string | null = this.leafId): Generator<number, void> {
    let position = this.#positionOf(leafId);
    // Ids are duplicated only in files that someone put together from others.
    const seen = this.#positions.size < this.length ? new Set<string>() : undefined;
    while (position !== noPosition) {
      if (seen !== undefined) {
        const id = this.idAt(position);
        if (seen.has(id)) return;
        seen.add(id);
      }
      yield position;
      position = this.#parents[position] ?? noPosition;
    }
  }

  /**
   * The entries from the root to `leafId`, oldest first; with `wants`, only those. If a parent is
   * missing, the preceding entry of the file replaces it, so that a damaged line costs only itself.
   */
  branch(leafId: string | null = this.leafId, wants?: RoleFilter): SessionEntry[] {
    return this.branchPositions(leafId, wants).map((position) => this.#entryAt(position));
  }

  /** The entries of {@link branch} in reverse, for callers that need only the last of them. */
  *ancestors(
    leafId: string | null = this.leafId,
    wants: RoleFilter = () => true,
  ): Generator<SessionEntry> {
    for (const position of this.positions(leafId)) {
      if (wants(this.roleAt(position))) yield this.#entryAt(position);
    }
  }

  #entryAt(position: number): SessionEntry {
    const known = this.#entries[position];
    if (known !== undefined) return known;
    const entry = this.#file.entry(this.#columns.placeOf(position));
    this.#entries[position] = entry;
    this.#unread -= 1;
    return entry;
  }

  *#messagePlaces(positions: readonly number[]): Generator<LinePlace> {
    for (const position of positions) yield this.#columns.messagePlaceOf(position);
  }

  get #file(): EntrySource {
    if (this.#source === undefined) throw new Error("A scanned entry needs its file");
    return this.#source;
  }

  #notePrompt(position: number, promptId: string): void {
    this.promptIds.add(promptId);
    this.#promptAt.set(position, promptId);
  }

  #parentOf({ scan, bytes }: ScannedLine): number {
    const { parentStart, parentEnd } = scan;
    if (parentEnd === 0) return noPosition;
    const shortId = shortKey(bytes, parentStart, parentEnd);
    if (shortId === undefined) {
      return this.#positions.get(textIn(bytes, parentStart, parentEnd)) ?? this.#leafPosition();
    }
    // Nearly always, so the table need not be asked.
    if (shortId === this.#shortLeaf && this.#leafAt !== undefined) return this.#leafAt;
    return this.#positions.getShort(shortId) ?? this.#leafPosition();
  }

  #addUnread(shortId: number | undefined): void {
    this.#leafAt = this.length;
    this.#shortLeaf = shortId;
    this.#entries.push(undefined);
    this.#unread += 1;
  }

  #leafPosition(): number {
    return this.#leafAt ?? this.#positionOf(this.#leafId);
  }

  #positionOf(id: string | null): number {
    return (id === null ? undefined : this.#positions.get(id)) ?? noPosition;
  }
}
