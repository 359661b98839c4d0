import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { Diagnostic } from "@tau-agent/system";
import type { SessionInfo } from "./list-sessions.ts";
import type { SessionLog } from "./session-log.ts";
import type { SessionProject } from "./session-project.ts";

/** The conversation with which a session begins. */
export type SessionStart =
  /**
   * A new session in a file (the default), with `id` instead of a random id. The file is created
   * with the first message, or immediately if the session is `isListed` from the start.
   */
  | { readonly kind: "new"; readonly id?: string | undefined; readonly isListed?: boolean }
  /** The project's session with exactly this id, or a new one with that id. */
  | { readonly kind: "id"; readonly id: string }
  /** A new session without a file. */
  | { readonly kind: "memory"; readonly id?: string | undefined }
  /** An open log. */
  | { readonly kind: "log"; readonly log: SessionLog }
  /**
   * The session in this file or with this id; if the file does not exist, a new one there. With
   * `goesToItsFolder`, the session's own folder, if it exists, is the project instead of `cwd`.
   */
  | { readonly kind: "file"; readonly path: string; readonly goesToItsFolder?: boolean }
  /** The project's latest session, or a new one. */
  | { readonly kind: "latest" }
  /** A copy of the session in this file or with this id. */
  | { readonly kind: "fork"; readonly from: string; readonly id?: string | undefined };

export type StartAtHome = Exclude<SessionStart, { readonly kind: "memory" | "log" }>;

export interface OpenedSession {
  readonly log: SessionLog;
  readonly diagnostics: readonly Diagnostic[];
}

/** How a session is opened. */
export interface OpenOptions extends SessionProject {
  /** Leaves calls that wait for an approval open, because the session asks again. */
  readonly keepsQuestions?: boolean | undefined;
  /** Leaves all calls of a killed host open, because the session continues with them. */
  readonly keepsCalls?: boolean | undefined;
}

/** The known facts about a new session. */
export interface NewSession extends SessionProject {
  readonly parentSession?: string | undefined;
}

/** A session that was read without being opened. */
export interface ReadLog {
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
  /** Its name here; the same however it was requested. */
  readonly place: string;
  /** Its file, if it has one. */
  readonly path?: string | undefined;
}

/** How a call's result names the session of a subagent. */
export interface SubagentName {
  readonly sessionFile?: string | undefined;
  readonly storedSession?: string | undefined;
}

/** Where a project's sessions are kept: in files, in a store or, without a folder, in memory. */
export interface SessionHome {
  /** An empty session. */
  create(session: NewSession): SessionLog;
  /**
   * Opens the conversation with which a session begins.
   *
   * @throws {SessionError} `session_not_found`, `session_locked`, `session_invalid`, `session_unreadable`,
   *   `session_write_failed`, `invalid_option`, `workspace_mismatch`
   */
  open(start: StartAtHome, options: OpenOptions): Promise<OpenedSession>;
  /** Opens a session that must exist. As {@link open}. */
  openExisting(name: string, options: OpenOptions): Promise<OpenedSession>;
  /**
   * Reads a session without opening it; another host may be writing to it.
   *
   * @throws {SessionError} `session_not_found`, `session_invalid`, `session_unreadable`, `session_damaged`,
   *   `session_write_failed`
   */
  read(name: string, cwd: string): Promise<ReadLog>;
  /** Reads the session of a subagent of the session `caller`; undefined if it does not exist. */
  readSubagent(caller: Omit<ReadLog, "entries">, named: SubagentName): Promise<ReadLog | undefined>;
  /** The name of a session here, from what a user gave: an absolute path, or an id in a store. */
  nameOf(given: string, cwd: string): string;
  /** Whether a log is the session with this name. */
  isNamed(log: SessionLog, name: string): boolean;
  /** The sessions of the project, the latest first; with `all`, those of every project that can be listed. */
  list(options: { readonly all: boolean }): Promise<SessionInfo[]>;
  /**
   * Deletes a session that no process is writing to.
   *
   * @throws {SessionError} `session_not_found`, `session_locked`, `session_invalid`, `session_write_failed`
   */
  delete(name: string): Promise<void>;
}
