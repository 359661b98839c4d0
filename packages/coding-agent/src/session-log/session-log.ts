import { constants, copyFileSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { encodeLine, SESSION_VERSION, toPlainValue } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../base/diagnostic.ts";
import { SessionError } from "../base/errors.ts";
import { randomHex, randomUuid } from "../base/random.ts";
import { migrateEntries } from "./entries/migrate.ts";
import {
  type FileTail,
  readSessionFile,
  type SessionFileContent,
} from "./file/read-session-file.ts";
import { rewriteSessionFile } from "./file/rewrite-session-file.ts";
import { opening, SessionFile } from "./file/session-file.ts";
import type { SessionLease } from "./file/session-lease.ts";
import { sessionFileName } from "./file/session-path.ts";
import { SessionTotals } from "./session-totals.ts";
import { SessionTree } from "./session-tree.ts";

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
  /** Leaves calls open that wait for an approval, because the session asks again. */
  readonly keepsQuestions?: boolean | undefined;
}

/**
 * A growing session: the tree in memory and, unless it is memory only, its file. An entry is
 * written to the file first and added in memory afterwards, so the two never disagree.
 */
export class SessionLog {
  readonly header: SessionHeader;
  readonly tree = new SessionTree();
  readonly totals = new SessionTotals();
  /** The path of the session's file, existing or planned; undefined for one in memory. */
  readonly path: string | undefined;
  readonly #fsync: FsyncMode;
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

  private constructor(header: SessionHeader, path: string | undefined, fsync: FsyncMode) {
    this.header = header;
    this.path = path;
    this.#fsync = fsync;
  }

  /** A new session. Nothing is on disk before its first user message. */
  static create(options: SessionLogOptions): SessionLog {
    const timestamp = new Date().toISOString();
    const id = options.id ?? randomUuid();
    const { directory, parentSession } = options;
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
    return new SessionLog(header, path, options.fsync ?? "none");
  }

  /**
   * Continues the session in `path`; if the file is missing or empty, begins a new one there.
   *
   * @throws {SessionError} `session_invalid`, `session_locked`, `session_write_failed`
   */
  static async load(
    path: string,
    options: SessionLogOptions,
  ): Promise<{ log: SessionLog; diagnostics: Diagnostic[] }> {
    if (!existsSync(path) || statSync(path).size === 0) {
      return { log: SessionLog.create({ ...options, path }), diagnostics: [] };
    }
    // Before it is read: entries that another host adds must be neither missed nor overwritten.
    const lease = SessionFile.lease(path);
    try {
      const content = await readSessionFile(path);
      const { header } = content;
      if (header !== undefined) return SessionLog.#open({ path, lease, content, header }, options);
      lease.release();
      return { log: SessionLog.create({ ...options, path }), diagnostics: content.diagnostics };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  static #open({ path, lease, content, header }: ReadSession, options: SessionLogOptions) {
    const migrated = migrateEntries({ header, entries: content.entries });
    const isOld = (header.version ?? 1) < SESSION_VERSION;
    const { diagnostics } = content;
    const tail = isOld
      ? opening(path, () => migrateFile({ path, content, header }, migrated))
      : content.tail;
    const opened = SessionFile.open(path, tail, lease);
    const log = new SessionLog(
      { ...header, version: SESSION_VERSION },
      path,
      options.fsync ?? "none",
    );
    log.#file = opened.file;
    for (const entry of migrated) log.#adopt(entry);
    return { log, diagnostics: [...diagnostics, ...opened.diagnostics] };
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
    this.#write(ordered);
    this.#adopt(ordered);
    return ordered;
  }

  /** Appends an entry that can be rebuilt from the file, and writes it with the next one. */
  appendLater(entry: NewEntry): void {
    const ordered = this.#complete(entry);
    if (this.#file !== undefined) this.#deferred.push(ordered);
    else if (this.path !== undefined) this.#unwritten.push(ordered);
    this.#adopt(ordered);
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
    for (const entry of entries) this.#adopt(entry);
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

  /** Closes the file; the session can still be read. */
  close(): void {
    this.#isClosed = true;
    this.#file?.close();
  }

  #complete(entry: NewEntry, time?: Date): SessionEntry {
    // `type` first, as pi writes it; in memory, nothing that the file cannot represent.
    return toPlainValue(reorder({ ...entry, ...this.tree.createNode(time) } as SessionEntry));
  }

  #write(entry: SessionEntry): void {
    if (this.#isClosed) throw new SessionError("disposed");
    if (this.path === undefined) return;
    if (this.#file?.isGone) this.#leaveFile();
    if (this.#file === undefined && !this.#isGone && !isUserMessage(entry)) {
      this.#unwritten.push(entry);
      return;
    }
    if (this.#file === undefined) this.#begin(this.path, entry);
    else this.#file.append([...this.#deferred, entry].map(encodeLine).join(""));
    this.#deferred = [];
    if (this.#fsync === "entry") this.#file?.sync();
  }

  #begin(path: string, entry: SessionEntry): void {
    const file = SessionFile.create(path);
    const lines = [this.header, ...this.#unwritten, entry].map(encodeLine).join("");
    try {
      file.append(lines);
    } catch (error) {
      file.close();
      throw error;
    }
    this.#file = file;
    this.#unwritten = [];
    this.#isGone = false;
  }

  /** Do not lose the conversation with a file that was deleted. */
  #leaveFile(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#unwritten = [...this.tree.entries];
    this.#deferred = [];
    this.#isGone = true;
  }

  #adopt(entry: SessionEntry): void {
    this.tree.adopt(entry);
    this.totals.add(entry);
    const known = entry as KnownSessionEntry;
    if (known.type === "session_info") this.#name = known.name === "" ? undefined : known.name;
  }
}

interface ReadSession {
  readonly path: string;
  readonly lease: SessionLease;
  readonly content: SessionFileContent;
  readonly header: SessionHeader;
}

/** Malformed lines are dropped, so the original file is kept then. */
function migrateFile(
  { path, content, header }: Omit<ReadSession, "lease">,
  entries: readonly SessionEntry[],
): FileTail {
  const { diagnostics, tail } = content;
  if (diagnostics.length > 0 || !tail.isTailComplete) {
    const aside = `${path}.v${header.version ?? 1}-${randomHex(4)}`;
    copyFileSync(path, aside, constants.COPYFILE_EXCL);
    const message = `The file was upgraded to version ${SESSION_VERSION}; the original is kept as ${aside}.`;
    diagnostics.push({ severity: "warning", message, path });
  }
  const sizeBytes = rewriteSessionFile(path, header, entries);
  return { sizeBytes, unterminatedFrom: undefined, isTailComplete: true };
}

function reorder({ type, id, parentId, timestamp, ...rest }: SessionEntry): SessionEntry {
  return { type, id, parentId, timestamp, ...rest } as SessionEntry;
}

/**
 * What makes a session worth a file. A message with which an extension starts a run counts, too.
 */
function isUserMessage(entry: SessionEntry): boolean {
  const known = entry as KnownSessionEntry;
  if (known.type === "custom_message") return true;
  return known.type === "message" && known.message.role !== "bashExecution";
}
