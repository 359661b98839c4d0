import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { randomUuid } from "@tau-agent/system";
import { createEntryId } from "./entries/entry-id.ts";
import { EntryRows, type EntrySource } from "./entry-rows.ts";
import {
  type LinePlace,
  type ScannedLine,
  type ScannedMessage,
  type ScannedRole,
  scannedRoles,
  shortKey,
  textIn,
} from "./scan/index.ts";
import type { UnreadPast } from "./unread-past.ts";

const noPosition = -1;

/** Selects entries by the role of their message; undefined for parsed entries. */
export type RoleFilter = (role: ScannedRole | undefined) => boolean;

/**
 * The entries of a session as a tree in memory. Appending adds a child of the leaf and moves the leaf; nothing is
 * ever changed or removed. Messages that were only scanned are parsed on demand; {@link roleAt} and
 * {@link scannedAt} return what is known without parsing. A past that {@link beginAfter} left out is read as soon
 * as an unknown part of it is needed.
 *
 * If the parent of an entry is missing from the file (its line was damaged), the preceding entry is its parent.
 */
export class SessionTree {
  #rows: EntryRows;
  #past: UnreadPast | undefined;
  /** The parent of the next entry: its position, or its id. */
  #leafAt: number | undefined;
  #leafId: string | null = null;
  /** The number of the id of the entry at {@link #leafAt}, if that is short. */
  #shortLeaf: number | undefined;

  /** @param expected - the approximate number of entries to come */
  constructor(expected = 0) {
    this.#rows = new EntryRows(expected);
  }

  /** Sets the source for entries that are only scanned. */
  readFrom(source: EntrySource): void {
    this.#rows.source = source;
  }

  /** Leaves the entries at the beginning unread until they are needed. */
  beginAfter(past: UnreadPast): void {
    const rows = this.#rows;
    this.#past = past;
    rows.skip(past.length);
    for (const { position, entry } of past.others) rows.fill(position, entry);
    if (past.parentId !== null) rows.positions.set(past.parentId, past.parent);
    this.#leafAt = past.length - 1;
  }

  /** The ids of the prompts in the session, on every branch. */
  get promptIds(): ReadonlySet<string> {
    return this.#whole.promptIds;
  }

  /** All entries in file order. Reads those that were only scanned. */
  get entries(): readonly SessionEntry[] {
    const rows = this.#whole;
    for (let position = 0; rows.unread > 0 && position < rows.length; position++) {
      rows.entryAt(position);
    }
    return rows.entries as readonly SessionEntry[];
  }

  /** The number of entries. */
  get length(): number {
    return this.#rows.length;
  }

  /** The number of entries at the beginning that were left unread. */
  get unreadLength(): number {
    return this.#past?.length ?? 0;
  }

  /** Whether all entries have been read from the file. */
  get isRead(): boolean {
    return this.#past === undefined && this.#rows.unread === 0;
  }

  /** Whether entries share an id, which happens only in files assembled from others. */
  get hasDuplicates(): boolean {
    const { positions, length } = this.#rows;
    if (this.#past === undefined) return positions.size < length;
    const { length: left, others, parent } = this.#past;
    const isParentKnown = parent === noPosition || others.some((each) => each.position === parent);
    return positions.size + left - others.length - (isParentKnown ? 0 : 1) < length;
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
    const position = this.indexOf(id);
    return position === undefined ? undefined : this.at(position);
  }

  /** The entry's index in {@link entries}. */
  indexOf(id: string): number | undefined {
    return this.#rows.positions.get(id) ?? (this.#past && this.#whole.positions.get(id));
  }

  /** The entry at an index of {@link entries}. */
  at(position: number): SessionEntry | undefined {
    const isThere = position >= 0 && position < this.length;
    return isThere ? this.#rowsWith(position).entryAt(position) : undefined;
  }

  /** The id of the entry at an index, without reading the entry. */
  idAt(position: number): string {
    return this.#rowsWith(position).idAt(position);
  }

  /** The index of an entry's parent; -1 for a root. */
  parentAt(position: number): number {
    return this.#rowsWith(position).parents[position] ?? noPosition;
  }

  /** The entries from an index on. */
  slice(start: number): SessionEntry[] {
    return Array.from(
      { length: Math.max(0, this.length - start) },
      (_, index) => this.at(start + index) as SessionEntry,
    );
  }

  /** The role of a message that was only scanned; undefined for every other entry. */
  roleAt(position: number): ScannedRole | undefined {
    return this.#rowsWith(position).roleAt(position);
  }

  /**
   * The facts about a scanned message that the totals count, valid until the next call; undefined for
   * every other entry.
   */
  scannedAt(position: number): ScannedMessage | undefined {
    const role = this.roleAt(position);
    return role === undefined ? undefined : this.#rows.columns.messageAt(position, role);
  }

  /** The line of a message that was only scanned; undefined for every other entry. */
  lineAt(position: number): LinePlace | undefined {
    return this.roleAt(position) === undefined ? undefined : this.#rows.columns.placeOf(position);
  }

  /** The messages of scanned entries; they are not cached. */
  messagesAt(positions: readonly number[]): AgentMessage[] {
    if (positions.length === 0) return [];
    return this.#rows.file.values(this.#messagePlaces(positions)) as AgentMessage[];
  }

  /** The JSON of a scanned entry's message, valid until the next call. */
  messageBytes(position: number): Buffer {
    return this.#rows.file.read(this.#rows.columns.messagePlaceOf(position));
  }

  /** The same for several, in batches: each is a list without its brackets. */
  messageLists(positions: readonly number[]): Iterable<Buffer> {
    return this.#rows.file.lists(this.#messagePlaces(positions), true);
  }

  /** The parsed entries, in file order: everything except usual messages. */
  get parsed(): readonly SessionEntry[] {
    return this.#rows.parsed;
  }

  /** Fields every new entry starts with: a fresh id, the leaf as parent, the time (default now). */
  createNode(time = new Date()): { id: string; parentId: string | null; timestamp: string } {
    const { positions } = this.#rows;
    return {
      // While a past is unread, it is unknown whether a short id is taken.
      id: this.#past ? randomUuid() : createEntryId((id) => positions.get(id) !== undefined),
      parentId: this.leafId,
      timestamp: time.toISOString(),
    };
  }

  /** Adds a written entry and makes it the leaf. */
  adopt(entry: SessionEntry): void {
    const { id, parentId } = entry;
    const parent =
      parentId === null ? noPosition : (this.indexOf(parentId) ?? this.#leafPosition());
    this.#rows.add(entry, parent);
    this.moveLeaf(id);
  }

  /** Adds a scanned entry of the file, and makes it the leaf. */
  adoptScanned(line: ScannedLine): void {
    const parent = this.#parentOf(line);
    this.#shortLeaf = this.#rows.addScanned(line, parent);
    this.#leafAt = this.length - 1;
  }

  /** Adds a copy of another tree's scanned entry, whose line was written to `start`, like {@link adopt}. */
  adoptCopy(from: SessionTree, fromPosition: number, start: number): void {
    const parent = this.#leafPosition();
    this.#shortLeaf = this.#rows.addCopy(from.#rows, { fromPosition, start }, parent);
    this.#leafAt = this.length - 1;
  }

  /**
   * The positions from the root to `leafId`; with `wants`, only the wanted ones. Walking {@link positions}
   * takes ten times as long (rows "100 000 entries").
   */
  branchPositions(leafId: string | null = this.leafId, wants: RoleFilter = () => true): number[] {
    if (this.hasDuplicates) {
      const all = [...this.positions(leafId)].reverse();
      return all.filter((position) => wants(this.roleAt(position)));
    }
    const found: number[] = [];
    let position = this.#positionOf(leafId);
    while (position !== noPosition) {
      if (this.#isPast(position)) {
        const past = this.#branchInPast(position, wants);
        if (past !== undefined) return [...found, ...past].reverse();
        return this.branchPositions(leafId, wants);
      }
      if (wants(this.#rows.roleAt(position))) found.push(position);
      position = this.#rows.parents[position] ?? noPosition;
    }
    return found.reverse();
  }

  /** The positions from `leafId` back to the root; with `wants`, at least the wanted ones. */
  *positions(
    leafId: string | null = this.leafId,
    wants: RoleFilter = () => true,
  ): Generator<number, void> {
    let position = this.#positionOf(leafId);
    const seen = this.hasDuplicates ? new Set<string>() : undefined;
    while (position !== noPosition) {
      if (this.#isPast(position)) {
        const past = this.#branchInPast(position, wants);
        if (past !== undefined) return yield* past;
      }
      if (seen !== undefined) {
        const id = this.idAt(position);
        if (seen.has(id)) return;
        seen.add(id);
      }
      yield position;
      position = this.#rows.parents[position] ?? noPosition;
    }
  }

  /**
   * The entries from the root to `leafId`, oldest first; with `wants`, only the wanted ones. If a parent is
   * missing, the preceding entry of the file replaces it, so that a damaged line loses only itself.
   */
  branch(leafId: string | null = this.leafId, wants?: RoleFilter): SessionEntry[] {
    return this.branchPositions(leafId, wants).map((position) => this.at(position) as SessionEntry);
  }

  /** The entries of {@link branch} in reverse, for callers that need only the latest ones. */
  *ancestors(
    leafId: string | null = this.leafId,
    wants: RoleFilter = () => true,
  ): Generator<SessionEntry> {
    for (const position of this.positions(leafId, wants)) {
      if (wants(this.roleAt(position))) yield this.at(position) as SessionEntry;
    }
  }

  *#messagePlaces(positions: readonly number[]): Generator<LinePlace> {
    for (const position of positions) yield this.#rows.columns.messagePlaceOf(position);
  }

  /** The rows including the past. */
  get #whole(): EntryRows {
    if (this.#past !== undefined) this.#readPast(this.#past);
    return this.#rows;
  }

  /** The rows including this position. */
  #rowsWith(position: number): EntryRows {
    const isKnown = !this.#isPast(position) || this.#rows.entries[position] !== undefined;
    return isKnown ? this.#rows : this.#whole;
  }

  #isPast(position: number): boolean {
    return this.#past !== undefined && position < this.#past.length;
  }

  /** The wanted positions of a branch in the past, newest first; undefined if the past had to be read for them. */
  #branchInPast(position: number, wants: RoleFilter): number[] | undefined {
    const { parent = noPosition, others = [] } = this.#past ?? {};
    if (position === parent && !scannedRoles.some(wants)) {
      const found = others.filter(({ isOnBranch }) => isOnBranch && wants(undefined));
      return found.map((other) => other.position).reverse();
    }
    void this.#whole;
    return undefined;
  }

  /** Rebuilds the rows from the whole file. Positions stay the same unless another program changed the past. */
  #readPast(past: UnreadPast): void {
    const known = this.#rows;
    const whole = new SessionTree(known.length);
    if (known.source !== undefined) whole.readFrom(known.source);
    past.read(whole);
    const rows = whole.#rows;
    const moved = rows.length - past.length;
    const movedParent = (parent: number) => {
      if (parent >= past.length) return parent + moved;
      if (parent === noPosition) return noPosition;
      const id = parent === past.parent ? past.parentId : (known.entries[parent]?.id ?? null);
      return whole.#positionOf(id);
    };
    for (let position = past.length; position < known.length; position++) {
      const parent = movedParent(known.parents[position] ?? noPosition);
      if (known.roleAt(position) === undefined) rows.add(known.entryAt(position), parent);
      else {
        const { start } = known.columns.placeOf(position);
        rows.addCopy(known, { fromPosition: position, start }, parent);
      }
    }
    this.#past = undefined;
    this.#rows = rows;
    if (this.#leafAt !== undefined) this.#leafAt += moved;
  }

  #parentOf({ scan, bytes }: ScannedLine): number {
    const { parentStart, parentEnd } = scan;
    if (parentEnd === 0) return noPosition;
    const shortId = shortKey(bytes, parentStart, parentEnd);
    if (shortId === undefined) {
      return this.indexOf(textIn(bytes, parentStart, parentEnd)) ?? this.#leafPosition();
    }
    // Nearly always the case, so the table is not consulted.
    if (shortId === this.#shortLeaf && this.#leafAt !== undefined) return this.#leafAt;
    const known = this.#rows.positions.getShort(shortId);
    return known ?? this.#whole.positions.getShort(shortId) ?? this.#leafPosition();
  }

  #leafPosition(): number {
    return this.#leafAt ?? this.#positionOf(this.#leafId);
  }

  #positionOf(id: string | null): number {
    return (id === null ? undefined : this.indexOf(id)) ?? noPosition;
  }
}
