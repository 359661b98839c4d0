import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { LineReader } from "../file/line-reader.ts";
import type { SessionPart } from "../store/session-part.ts";
import type { StoreReports } from "../store/store-access.ts";

/**
 * Keeps the lines of one session: in a file, in a store, or nowhere. {@link SessionLog} decides what to
 * write and when.
 */
export interface LogWriter {
  /** The path of the session's file, existing or planned; undefined without a file. */
  readonly path: string | undefined;
  /** How other sessions refer to this one: its path, or its id in a store. */
  readonly reference: string | undefined;
  /** Identifies the session in places where its host makes changes, and says how often it was taken. */
  readonly ownership: Ownership | undefined;
  /** Whether the header is written, so that entries can follow. */
  readonly isBegun: boolean;
  /** Present if subagents and files of the session are kept with its entries. */
  readonly parts?: LogParts;

  /**
   * Writes the header and the first entries.
   *
   * @throws {SessionError} `session_write_failed`, `session_locked`, `session_lost`; nothing is written then
   */
  begin(lines: readonly (SessionHeader | SessionEntry)[]): void;

  /** Begins with lines of another file, and returns a reader for them. Otherwise like {@link begin}. */
  beginWithPieces?(pieces: Iterable<Uint8Array>): LineReader;

  /**
   * Appends entries.
   *
   * @returns false if the written data is gone, so that everything must be written again
   * @throws {SessionError} `session_write_failed`, `session_changed`, `session_lost`; nothing is written then
   */
  append(entries: readonly SessionEntry[]): boolean;

  /** Flushes to disk at the end of a turn, if configured. */
  endTurn(): void;

  /**
   * Checks whether the written data still matches the session.
   *
   * @throws {SessionError} `session_changed`, `session_lost`
   */
  check(): void;

  /**
   * Resolves once everything written is safely stored; undefined if it already is. Rejects with
   * {@link SessionError} `session_write_failed` or `session_lost`.
   */
  stored(): Promise<void> | undefined;

  /**
   * After a failure, prepares to write again and resolves with the stored entries, or with undefined if
   * there are none. Returns undefined if there was no failure.
   *
   * @throws {SessionError} `session_lost`, `session_write_failed`, also as a rejection
   */
  recover(): Promise<readonly SessionEntry[] | undefined> | undefined;

  close(): void | Promise<void>;
}

export interface Ownership {
  /** The same for each host of the session, and different for every other session. */
  readonly key: string;
  readonly epoch: number;
}

/** Keeps the parts of a session besides its entries. */
export interface LogParts {
  /** Begins a log for a subagent. */
  openPart(toolCallId: string, id: string): Promise<SessionPart>;
  /** The lines of a part; undefined if the store has no part with that name. */
  readPart(reference: string): Promise<readonly object[] | undefined>;
  /** Restores files that the arguments of a call name; undefined if there are none. */
  restoreNamed(args: unknown): Promise<void> | undefined;
}

/** A writer's reports to its log, with the number of lines that are kept. */
export interface LogOwner {
  readonly onStatus: StoreReports["onStatus"];
  readonly onLost: (keptLines: number) => void;
  readonly onFailed: (keptLines: number) => void;
}

export type MakeWriter = (header: SessionHeader, owner: LogOwner) => LogWriter;
