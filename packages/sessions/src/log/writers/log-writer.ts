import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { LineReader } from "../file/line-reader.ts";
import type { SessionPart } from "../store/session-part.ts";
import type { StoreReports } from "../store/store-access.ts";

/**
 * Keeps the lines of one session: in a file, in a store, or nowhere. {@link SessionLog} decides what is
 * written and when.
 */
export interface LogWriter {
  /** The path of the session's file, existing or planned; undefined without a file. */
  readonly path: string | undefined;
  /** How other sessions refer to this one: its path, or its id in a store. */
  readonly reference: string | undefined;
  /** What names the session to places where its host changes something, and how often it was taken. */
  readonly ownership: Ownership | undefined;
  /** The header is written, so entries can follow. */
  readonly isBegun: boolean;
  /** Present where subagents and files of the session are kept with its entries. */
  readonly parts?: LogParts;

  /**
   * Writes the header and the first entries.
   *
   * @throws {SessionError} `session_write_failed`, `session_locked`, `session_lost`; nothing is written then
   */
  begin(lines: readonly (SessionHeader | SessionEntry)[]): void;

  /** Begins with lines that another file has, and returns a reader of them. As {@link begin}. */
  beginWithPieces?(pieces: Iterable<Uint8Array>): LineReader;

  /**
   * Writes entries after what is there.
   *
   * @returns false if what was written is gone, so that everything has to be written again
   * @throws {SessionError} `session_write_failed`, `session_changed`, `session_lost`; nothing is written then
   */
  append(entries: readonly SessionEntry[]): boolean;

  /** Flushes to disk at the end of a turn, if configured. */
  endTurn(): void;

  /**
   * Checks whether what is written still agrees with the session.
   *
   * @throws {SessionError} `session_changed`, `session_lost`
   */
  check(): void;

  /**
   * Resolves once everything that was written is kept; undefined if it is. Rejects with
   * {@link SessionError} `session_write_failed` or `session_lost`.
   */
  stored(): Promise<void> | undefined;

  /**
   * After a failure, gets ready to write again, and resolves with the entries that are kept, or undefined if
   * there are none; undefined if there was no failure.
   *
   * @throws {SessionError} `session_lost`, `session_write_failed`, also as a rejection
   */
  recover(): Promise<readonly SessionEntry[] | undefined> | undefined;

  close(): void | Promise<void>;
}

export interface Ownership {
  /** The same for each host of the session, and for no other session. */
  readonly key: string;
  readonly epoch: number;
}

/** Keeps what belongs to a session besides its entries. */
export interface LogParts {
  /** Begins a log for a subagent. */
  openPart(toolCallId: string, id: string): Promise<SessionPart>;
  /** The lines of a part; undefined if the store has none of that name. */
  readPart(reference: string): Promise<readonly object[] | undefined>;
  /** Restores files that the arguments of a call name; undefined without any. */
  restoreNamed(args: unknown): Promise<void> | undefined;
}

/** A writer's reports to its log, with the number of lines that are kept. */
export interface LogOwner {
  readonly onStatus: StoreReports["onStatus"];
  readonly onLost: (keptLines: number) => void;
  readonly onFailed: (keptLines: number) => void;
}

export type MakeWriter = (header: SessionHeader, owner: LogOwner) => LogWriter;
