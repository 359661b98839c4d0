import { existsSync, openSync } from "node:fs";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { encodeLine, SESSION_VERSION, toPlainValue } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../base/diagnostic.ts";
import { SessionError } from "../base/errors.ts";
import { randomUuid } from "../base/random.ts";
import { BranchCopy, gathered } from "./branch-copy.ts";
import { LineReader } from "./file/line-reader.ts";
import { opening, SessionFile, sessionFileSize } from "./file/session-file.ts";
import type { SessionLease } from "./file/session-lease.ts";
import { sessionFileName } from "./file/session-path.ts";
import type { ReadSession } from "./read-session.ts";
import { SessionTotals } from "./session-totals.ts";
import { SessionTree } from "./session-tree.ts";
import type { SessionPart } from "./store/session-part.ts";
import type { StoreReports } from "./store/store-access.ts";

/** An entry without the fields that every entry has. */
export type NewEntry = KnownSessionEntry extends infer E
  ? E extends KnownSessionEntry
    ? Omit<E, "id" | "parentId" | "timestamp">
    : never
  : never;

/** When to flush the file to disk, to survive power cuts. */
export type FsyncMode = "none" | "turn" | "entry";

/** Where to keep a session. */
export interface SessionLogOptions {
  readonly cwd: string;
  /** Folder for the new file; undefined keeps the session in memory. */
  readonly directory?: string | undefined;
  /** The exact file of a new session; overrides `directory`. */
  readonly path?: string | undefined;
  readonly id?: string | undefined;
  readonly parentSession?: string | undefined;
  readonly fsync?: FsyncMode | undefined;
  /** The store that the session lives in, instead of a file. */
  readonly store?: LogStore | undefined;
  /** Leaves calls open that wait for an approval, because the session asks again. */
  readonly keepsQuestions?: boolean | undefined;
}

/**
 * A growing session: the tree in memory and, unless it is memory only, its file. An entry is
 * written to the file first and added in memory afterwards, so the two never disagree.
 */
export class SessionLog {
  readonly header: SessionHeader;
  /** The path of the session's file, existing or planned; undefined for one in memory or in a store. */
  readonly path: string | undefined;
  readonly #fsync: FsyncMode;
  #tree: SessionTree;
  #file: SessionFile | undefined;
  /** Entries that wait for the first user message: an unused session leaves no file. */
  #unwritten: SessionEntry[] = [];
  /**
   * Entries that are written with the next one, so that looking at a session does not change its
   * file.
   */
  #deferred: SessionEntry[] = [];
  /** The file was deleted while in use; the next entry of any kind writes it again. */
  #isGone = false;
  #name: string | undefined;
  #isClosed = false;
  #totals = new SessionTotals();
  /** How many entries are in the totals. */
  #counted = 0;
  /** Reads the entries that were only scanned. */
  #lines: LineReader | undefined;

  protected constructor(parts: LogParts, fsync: FsyncMode) {
    this.header = parts.header;
    this.path = parts.path;
    this.#tree = parts.tree;
    this.#fsync = fsync;
  }

  /** The entries. */
  get tree(): SessionTree {
    return this.#tree;
  }

  /** Whether the session lives in a store. */
  get isStored(): boolean {
    return false;
  }

  /** What other sessions name this one by: its path, or its id in a store. */
  get reference(): string | undefined {
    return this.path;
  }

  /** A new session. Nothing is on disk before its first user message. */
  static create(options: SessionLogOptions): SessionLog {
    const timestamp = new Date().toISOString();
    const id = options.id ?? randomUuid();
    const { directory, parentSession, store } = options;
    const path =
      options.path ?? (directory && join(directory, sessionFileName(timestamp, id))) ?? undefined;
    const header: SessionHeader = {
      type: "session",
      version: SESSION_VERSION,
      id,
      timestamp,
      cwd: options.cwd,
      ...(parentSession === undefined ? {} : { parentSession }),
    };
    const tree = new SessionTree();
    if (store !== undefined) return store.createLog({ header, path: undefined, tree });
    return new SessionLog({ header, path, tree }, options.fsync ?? "none");
  }

  /**
   * Continues the session in `path`; if the file is missing or empty, begins a new one there.
   *
   * @throws {SessionError} `session_invalid`, `session_unreadable`, `session_locked`, `session_write_failed`
   */
  static async load(
    path: string,
    options: SessionLogOptions,
  ): Promise<{ log: SessionLog; diagnostics: readonly Diagnostic[] }> {
    if (sessionFileSize(path) === 0) {
      return { log: SessionLog.create({ ...options, path }), diagnostics: [] };
    }
    // Before it is read: entries that another host adds must be neither missed nor overwritten.
    const lease = SessionFile.lease(path);
    try {
      // Loaded for files only: it would slow the start of new sessions (row "start-up").
      const { readSession } = await import("./read-session.ts");
      const session = await readSession(path);
      if (session.header !== undefined) return SessionLog.#open(session, lease, options);
      session.lines.close();
      lease.release();
      return { log: SessionLog.create({ ...options, path }), diagnostics: session.diagnostics };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  static #open(session: ReadSession, lease: SessionLease, options: SessionLogOptions) {
    const { path, tree, tail, diagnostics, lines } = session;
    const header = { ...(session.header as SessionHeader), version: SESSION_VERSION };
    try {
      const opened = SessionFile.open(path, tail, lease);
      const log = new SessionLog({ header, path, tree }, options.fsync ?? "none");
      log.#file = opened.file;
      if (tree.isRead) lines.close();
      else log.#lines = lines;
      for (const entry of tree.parsed) log.#noteName(entry);
      return { log, diagnostics: [...diagnostics, ...opened.diagnostics] };
    } catch (error) {
      lines.close();
      throw error;
    }
  }

  /** The ids of the prompts in the session, on every branch. */
  get promptIds(): ReadonlySet<string> {
    return this.tree.promptIds;
  }

  /** Counts of all entries; those that came since the last call are added now. */
  get totals(): SessionTotals {
    for (; this.#counted < this.tree.length; this.#counted++) {
      const scanned = this.tree.scannedAt(this.#counted);
      if (scanned !== undefined) this.#totals.addScanned(scanned);
      else this.#totals.add(this.tree.at(this.#counted) as SessionEntry);
    }
    return this.#totals;
  }

  /** The display name; undefined if none was set or it was cleared. */
  get name(): string | undefined {
    return this.#name;
  }

  /**
   * Appends an entry to the leaf and returns it.
   *
   * @param time - the entry's time; default now
   *
   * @throws {SessionError} `session_write_failed`, `session_changed`, `session_locked`, `disposed`;
   *   the session is unchanged then.
   */
  append(entry: NewEntry, time?: Date): SessionEntry {
    const ordered = this.complete(entry, time);
    if (this.#isClosed) throw new SessionError("disposed");
    this.write(ordered);
    this.adopt(ordered);
    return ordered;
  }

  /**
   * Makes the file of a new session now, and not with its first message.
   *
   * @throws {SessionError} `session_write_failed`, `session_locked`
   */
  begin(): void {
    if (this.path !== undefined && this.#file === undefined) this.#begin(this.path);
  }

  /** Appends an entry that can be rebuilt from the file, and writes it with the next one. */
  appendLater(entry: NewEntry): void {
    const ordered = this.complete(entry);
    if (this.#file !== undefined) this.#deferred.push(ordered);
    else if (this.path !== undefined) this.#unwritten.push(ordered);
    this.adopt(ordered);
  }

  /**
   * Begins this new session with entries of another one, including their ids. They are written at
   * once if they contain a conversation.
   *
   * @throws {SessionError} as {@link append}; the session is empty then.
   */
  takeOver(entries: readonly SessionEntry[]): void {
    if (this.path !== undefined && entries.some(isUserMessage)) {
      const last = entries.at(-1);
      this.#unwritten = entries.slice(0, -1);
      if (last !== undefined) this.#begin(this.path, last);
    } else {
      this.#unwritten = [...entries];
    }
    for (const entry of entries) this.adopt(entry);
  }

  /**
   * Begins this new session with a branch of another one, as {@link takeOver}. Lines of messages that
   * were only scanned are copied as they are (row "100 000 entries: fork").
   *
   * @throws {SessionError} as {@link append}, and `session_changed` when the other file cannot be read;
   *   the session is empty then.
   */
  takeOverBranch(from: SessionLog, leafId: string | null): void {
    const positions = leafId === null ? [] : from.tree.branchPositions(leafId);
    const isScanned = positions.some((position) => from.tree.roleAt(position) !== undefined);
    if (!isScanned || from.#lines === undefined || this.path === undefined) {
      this.takeOver(positions.map((position) => from.tree.at(position) as SessionEntry));
      return;
    }
    const { path } = this;
    const copy = new BranchCopy(from.tree, from.#lines, positions);
    const header = Buffer.from(encodeLine(this.header));
    this.#create(path, (file) => {
      file.appendAll(gathered([header], copy.pieces()));
      const lines = opening(path, () => new LineReader(path, openSync(path, "r")));
      this.tree.readFrom(lines);
      this.#lines = lines;
    });
    copy.adoptInto(this.tree, header.length);
    for (const entry of this.tree.parsed) this.#noteName(entry);
  }

  /** Flushes to disk at the end of a turn, if configured. */
  endTurn(): void {
    if (this.#fsync === "turn") this.#file?.sync();
  }

  /**
   * Checks whether the file still agrees with the session.
   *
   * @throws {SessionError} `session_changed`
   */
  check(): void {
    if (this.#isClosed || this.path === undefined) return;
    this.#file?.check();
    if (this.#isGone && existsSync(this.path)) {
      throw new SessionError("session_changed", { path: this.path });
    }
  }

  /** Settled once a store has, or refused, all that was appended; undefined if it has, or without one. */
  stored(): Promise<void> | undefined {
    return undefined;
  }

  /**
   * Gets ready for a prompt: after a failure of its store, the session is read again. Rejects with
   * {@link SessionError} `session_lost` or `session_write_failed`; undefined if there is nothing to do.
   */
  recover(): Promise<void> | undefined {
    return undefined;
  }

  /** Begins a log for a subagent in the store, if there is one; elsewhere its file is enough. */
  openPart(_toolCallId: string, _id: string): Promise<SessionPart> | undefined {
    return undefined;
  }

  /** Restores files that this session names and that a call is about to use; undefined without any. */
  restoreNamed(_args: unknown): Promise<void> | undefined {
    return undefined;
  }

  /** Tells the owner of a session what its store does, if it has one. */
  follow(_reports: StoreReports): void {}

  /** Closes the file, or leaves the store; the session can still be read. */
  close(): void | Promise<void> {
    this.#isClosed = true;
    this.#file?.close();
    this.#lines?.close();
  }

  /** An entry with the fields that every entry has, as a child of the leaf. */
  protected complete(entry: NewEntry, time?: Date): SessionEntry {
    // `type` first, as pi writes it; in memory, nothing that the file cannot represent.
    return toPlainValue(reorder({ ...entry, ...this.tree.createNode(time) } as SessionEntry));
  }

  /** Writes an entry before it is added in memory. */
  protected write(entry: SessionEntry): void {
    if (this.path === undefined) return;
    const found = this.#file?.look();
    if (found?.isGone) this.#leaveFile();
    if (this.#file === undefined && !this.#isGone && !isUserMessage(entry)) {
      this.#unwritten.push(entry);
      return;
    }
    if (this.#file === undefined) this.#begin(this.path, entry);
    else this.#file.append([...this.#deferred, entry].map(encodeLine).join(""), found);
    this.#deferred = [];
    if (this.#fsync === "entry") this.#file?.sync();
  }

  #begin(path: string, ...added: readonly SessionEntry[]): void {
    const lines = [this.header, ...this.#unwritten, ...added].map(encodeLine).join("");
    this.#create(path, (file) => file.append(lines));
    this.#unwritten = [];
    this.#isGone = false;
  }

  #create(path: string, write: (file: SessionFile) => void): void {
    const file = SessionFile.create(path);
    try {
      write(file);
    } catch (error) {
      file.close();
      throw error;
    }
    this.#file = file;
  }

  /** Do not lose the conversation with a file that was deleted. */
  #leaveFile(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#unwritten = [...this.tree.entries];
    this.#deferred = [];
    this.#isGone = true;
  }

  /** Adds an entry in memory. */
  protected adopt(entry: SessionEntry): void {
    this.tree.adopt(entry);
    this.#noteName(entry);
  }

  /** Begins again in memory with these entries. */
  protected replaceEntries(entries: readonly SessionEntry[]): void {
    this.#tree = new SessionTree();
    this.#totals = new SessionTotals();
    this.#counted = 0;
    this.#name = undefined;
    for (const entry of entries) this.adopt(entry);
  }

  #noteName(entry: SessionEntry): void {
    const known = entry as KnownSessionEntry;
    if (known.type === "session_info") this.#name = known.name === "" ? undefined : known.name;
  }
}

/** Makes logs that live in a store. */
export interface LogStore {
  createLog(parts: LogParts): SessionLog;
}

/** What a log begins with. */
export interface LogParts {
  readonly header: SessionHeader;
  readonly path: string | undefined;
  readonly tree: SessionTree;
}

function reorder({ type, id, parentId, timestamp, ...rest }: SessionEntry): SessionEntry {
  return { type, id, parentId, timestamp, ...rest } as SessionEntry;
}

/**
 * What makes a session worth a file. A message with which an extension starts a run counts, too.
 */
export function isUserMessage(entry: SessionEntry): boolean {
  const known = entry as KnownSessionEntry;
  if (known.type === "custom_message") return true;
  return known.type === "message" && known.message.role !== "bashExecution";
}
