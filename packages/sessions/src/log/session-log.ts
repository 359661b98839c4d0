import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import {
  encodeLine,
  SESSION_VERSION,
  SessionError,
  toPlainValue,
} from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, randomUuid } from "@tau-agent/system";
import { BranchCopy, gathered } from "./branch-copy.ts";
import type { LineReader } from "./file/line-reader.ts";
import { SessionFile, sessionFileSize } from "./file/session-file.ts";
import type { SessionLease } from "./file/session-lease.ts";
import { sessionFileName } from "./file/session-path.ts";
import type { ReadSession } from "./read-session.ts";
import { refuseOtherWorkspace, type SessionProject } from "./session-project.ts";
import { SessionTotals } from "./session-totals.ts";
import { SessionTree } from "./session-tree.ts";
import type { StoreReports } from "./store/store-access.ts";
import { createFileWriter, type FsyncMode } from "./writers/file-writer.ts";
import type { LogParts, LogWriter, MakeWriter, Ownership } from "./writers/log-writer.ts";
import { memoryWriter } from "./writers/memory-writer.ts";

/** An entry without the fields that every entry has. */
export type NewEntry = KnownSessionEntry extends infer E
  ? E extends KnownSessionEntry
    ? Omit<E, "id" | "parentId" | "timestamp">
    : never
  : never;

export interface SessionLogOptions extends SessionProject {
  /** The folder for the new file; if undefined, the session stays in memory. */
  readonly directory?: string | undefined;
  /** The exact file of a new session; overrides `directory`. */
  readonly path?: string | undefined;
  readonly id?: string | undefined;
  readonly parentSession?: string | undefined;
  readonly fsync?: FsyncMode | undefined;
  /** Makes a writer that keeps the session, instead of a file. */
  readonly makeWriter?: MakeWriter | undefined;
}

interface LogContents {
  readonly header: SessionHeader;
  readonly tree: SessionTree;
  /** Reads entries that were only scanned. */
  readonly lines?: LineReader | undefined;
  /** Totals of the entries at the beginning that were not read. */
  readonly totals?: SessionTotals | undefined;
}

/**
 * A growing session: its tree, totals and name in memory, over a writer that keeps the entries. An
 * entry is written first and added in memory afterwards, so the two never disagree.
 */
export class SessionLog {
  readonly header: SessionHeader;
  readonly #writer: LogWriter;
  #tree: SessionTree;
  #reports: StoreReports | undefined;
  /** Entries that wait for the first user message, so that an unused session leaves no trace. */
  #unwritten: SessionEntry[] = [];
  /** Entries written together with the next one, so that viewing a session does not change it. */
  #deferred: SessionEntry[] = [];
  #name: string | undefined;
  #isClosed = false;
  #totals = new SessionTotals();
  /** The number of entries included in the totals. */
  #counted = 0;
  #lines: LineReader | undefined;

  private constructor({ header, tree, lines, totals }: LogContents, makeWriter: MakeWriter) {
    this.header = header;
    this.#tree = tree;
    this.#lines = lines;
    if (totals !== undefined) [this.#totals, this.#counted] = [totals, tree.unreadLength];
    this.#writer = makeWriter(header, {
      onStatus: (status) => this.#reports?.onStatus(status),
      onLost: (keptLines) => {
        this.#keepOnly(keptLines);
        this.#reports?.onLost();
      },
      onFailed: (keptLines) => {
        this.#keepOnly(keptLines);
        this.#reports?.onFailed();
      },
    });
    for (const entry of tree.parsed) this.#noteName(entry);
  }

  /** The path of the session's file, existing or planned; undefined for one in memory or in a store. */
  get path(): string | undefined {
    return this.#writer.path;
  }

  /** The entries. */
  get tree(): SessionTree {
    return this.#tree;
  }

  /** How other sessions refer to this one: its path, or its id in a store. */
  get reference(): string | undefined {
    return this.#writer.reference;
  }

  /**
   * On whose behalf its host makes changes elsewhere; a session in memory has only one host. Valid once
   * the session has been written.
   */
  get ownership(): Ownership {
    return this.#writer.ownership ?? { key: this.header.id, epoch: 1 };
  }

  /** Where subagents and files of the session are kept; undefined if their own files suffice. */
  get parts(): LogParts | undefined {
    return this.#writer.parts;
  }

  /** Creates a new session. Nothing is written before its first user message. */
  static create(options: SessionLogOptions): SessionLog {
    const timestamp = new Date().toISOString();
    const id = options.id ?? randomUuid();
    const { directory, parentSession, fsync, workspaceId } = options;
    const path = options.path ?? (directory && join(directory, sessionFileName(timestamp, id)));
    const header: SessionHeader = {
      type: "session",
      version: SESSION_VERSION,
      id,
      timestamp,
      cwd: options.cwd,
      ...(parentSession === undefined ? {} : { parentSession }),
      ...(workspaceId === undefined ? {} : { workspace: { id: workspaceId } }),
    };
    const usual = path ? () => createFileWriter(path, fsync) : () => memoryWriter;
    return new SessionLog({ header, tree: new SessionTree() }, options.makeWriter ?? usual);
  }

  /** A session that a writer already has. */
  static opened(
    header: SessionHeader,
    entries: readonly SessionEntry[],
    makeWriter: MakeWriter,
  ): SessionLog {
    const log = new SessionLog({ header, tree: new SessionTree() }, makeWriter);
    for (const entry of entries) log.#adopt(entry);
    return log;
  }

  /**
   * Continues the session in `path`, or begins a new one there if the file is missing or empty.
   *
   * @throws {SessionError} `session_invalid`, `session_unreadable`, `session_locked`, `session_write_failed`,
   *   `workspace_mismatch`
   */
  static async load(
    path: string,
    options: SessionLogOptions,
  ): Promise<{ log: SessionLog; diagnostics: readonly Diagnostic[] }> {
    if (sessionFileSize(path) === 0) {
      return { log: SessionLog.create({ ...options, path }), diagnostics: [] };
    }
    // Taken before reading, so that entries of another host are neither missed nor overwritten.
    const lease = SessionFile.lease(path);
    try {
      // Loaded only for files, because it would slow down the start of new sessions (row `start`).
      const { readSession } = await loadReader();
      const session = await readSession(path);
      if (session.header !== undefined) {
        refuseOtherWorkspace(session.header, options, path);
        return SessionLog.#open(session, lease, options);
      }
      session.lines.close();
      lease.release();
      return { log: SessionLog.create({ ...options, path }), diagnostics: session.diagnostics };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  static #open(session: ReadSession, lease: SessionLease, options: SessionLogOptions) {
    const { path, tree, tail, diagnostics, lines, totals } = session;
    const header = { ...(session.header as SessionHeader), version: SESSION_VERSION };
    try {
      const opened = SessionFile.open(path, tail, lease);
      if (tree.isRead) lines.close();
      const contents = { header, tree, lines: tree.isRead ? undefined : lines, totals };
      const log = new SessionLog(contents, () =>
        createFileWriter(path, options.fsync, opened.file),
      );
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

  /** Totals of all entries; entries added since the last call are counted now. */
  get totals(): SessionTotals {
    for (; this.#counted < this.tree.length; this.#counted++) {
      this.#totals.addAt(this.tree, this.#counted);
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
    const ordered = this.#complete(entry, time);
    if (this.#isClosed) throw new SessionError("disposed");
    this.#write(ordered);
    this.#adopt(ordered);
    return ordered;
  }

  /**
   * Writes a new session now instead of with its first message.
   *
   * @throws {SessionError} `session_write_failed`, `session_locked`
   */
  begin(): void {
    if (!this.#writer.isBegun) this.#begin([]);
  }

  /** Appends an entry that can be rebuilt from the written ones; it is written with the next. */
  appendLater(entry: NewEntry): void {
    const ordered = this.#complete(entry);
    (this.#writer.isBegun ? this.#deferred : this.#unwritten).push(ordered);
    this.#adopt(ordered);
  }

  /**
   * Begins this new session with entries of another one, including their ids. They are written
   * immediately if they contain a conversation.
   *
   * @throws {SessionError} as {@link append}; the session is empty then.
   */
  takeOver(entries: readonly SessionEntry[]): void {
    if (entries.some(isUserMessage)) this.#begin(entries);
    else this.#unwritten = [...entries];
    for (const entry of entries) this.#adopt(entry);
  }

  /**
   * Begins this new session with a branch of another one, like {@link takeOver}. Lines of messages that
   * were only scanned are copied unchanged (row "100 000 entries: fork").
   *
   * @throws {SessionError} as {@link append}, and `session_changed` when the other file cannot be read;
   *   the session is empty then.
   */
  takeOverBranch(from: SessionLog, leafId: string | null): void {
    const positions = leafId === null ? [] : from.tree.branchPositions(leafId);
    const isScanned = positions.some((position) => from.tree.roleAt(position) !== undefined);
    const source = isScanned ? from.#lines : undefined;
    if (source === undefined || this.#writer.beginWithPieces === undefined) {
      this.takeOver(positions.map((position) => from.tree.at(position) as SessionEntry));
      return;
    }
    const copy = new BranchCopy(from.tree, source, positions);
    const header = Buffer.from(encodeLine(this.header));
    const lines = this.#writer.beginWithPieces(gathered([header], copy.pieces()));
    this.tree.readFrom(lines);
    this.#lines = lines;
    copy.adoptInto(this.tree, header.length);
    for (const entry of this.tree.parsed) this.#noteName(entry);
  }

  /** Flushes to disk at the end of a turn, if configured. */
  endTurn(): void {
    this.#writer.endTurn();
  }

  /**
   * Checks whether the written data still matches the session.
   *
   * @throws {SessionError} `session_changed`, `session_lost`
   */
  check(): void {
    if (!this.#isClosed) this.#writer.check();
  }

  /** Same as {@link LogWriter.stored}. */
  stored(): Promise<void> | undefined {
    return this.#writer.stored();
  }

  /**
   * Prepares for a prompt: reads the session again after a failure of the writer. Rejects with
   * {@link SessionError} `session_lost` or `session_write_failed`; undefined if there is nothing to do.
   */
  recover(): Promise<void> | undefined {
    return this.#writer.recover()?.then((kept) => {
      if (kept !== undefined) this.#replaceEntries(kept);
    });
  }

  /** Passes the writer's reports to the owner of a session from now on. */
  follow(reports: StoreReports): void {
    this.#reports = reports;
  }

  /** Closes the session for writing; it can still be read. */
  close(): void | Promise<void> {
    this.#isClosed = true;
    this.#lines?.close();
    return this.#writer.close();
  }

  /** Adds the fields that every entry has, as a child of the leaf. */
  #complete(entry: NewEntry, time?: Date): SessionEntry {
    // `type` first, as pi writes it; values in memory that the file cannot represent are dropped.
    return toPlainValue(reorder({ ...entry, ...this.tree.createNode(time) } as SessionEntry));
  }

  #write(entry: SessionEntry): void {
    if (!this.#writer.isBegun) {
      if (isUserMessage(entry)) this.#begin([entry]);
      else this.#unwritten.push(entry);
      return;
    }
    if (!this.#writer.append([...this.#deferred, entry])) {
      // The conversation must not be lost because its file was deleted.
      this.#writer.begin([this.header, ...this.tree.entries, entry]);
    }
    this.#deferred = [];
  }

  #begin(entries: readonly SessionEntry[]): void {
    this.#writer.begin([this.header, ...this.#unwritten, ...entries]);
    this.#unwritten = [];
  }

  #adopt(entry: SessionEntry): void {
    this.tree.adopt(entry);
    this.#noteName(entry);
  }

  /** Removes entries from memory that the writer did not keep. */
  #keepOnly(lines: number): void {
    const entries = [...this.tree.entries];
    this.#deferred = [];
    if (lines > 0) {
      this.#replaceEntries(entries.slice(0, lines - 1));
      return;
    }
    // Entries from before the first message wait for the next one.
    const first = entries.findIndex(isUserMessage);
    this.#unwritten = first === -1 ? entries : entries.slice(0, first);
    this.#replaceEntries(this.#unwritten);
  }

  /** Replaces all entries in memory with these. */
  #replaceEntries(entries: readonly SessionEntry[]): void {
    this.#tree = new SessionTree();
    this.#totals = new SessionTotals();
    this.#counted = 0;
    this.#name = undefined;
    for (const entry of entries) this.#adopt(entry);
  }

  #noteName(entry: SessionEntry): void {
    const known = entry as KnownSessionEntry;
    if (known.type === "session_info") this.#name = known.name === "" ? undefined : known.name;
  }
}

/** Loads the code that reads session files. */
export const loadReader = (): Promise<typeof import("./read-session.ts")> =>
  import("./read-session.ts");

function reorder({ type, id, parentId, timestamp, ...rest }: SessionEntry): SessionEntry {
  return { type, id, parentId, timestamp, ...rest } as SessionEntry;
}

/** Entries for which a session gets a file, including a message with which an extension starts a run. */
function isUserMessage(entry: SessionEntry): boolean {
  const known = entry as KnownSessionEntry;
  if (known.type === "custom_message") return true;
  return known.type === "message" && known.message.role !== "bashExecution";
}
