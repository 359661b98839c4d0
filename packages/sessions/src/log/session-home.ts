import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { Diagnostic } from "@tau-agent/system";
import type { SessionInfo } from "./list-sessions.ts";
import type { SessionLog } from "./session-log.ts";
import type { SessionProject } from "./session-project.ts";

/** Which conversation a session begins with. */
export type SessionStart =
  /**
   * A new one in a file (the default); `id` instead of a random id. The file is made with the first
   * message, or at once for a session that is `isListed` from the start.
   */
  | { readonly kind: "new"; readonly id?: string | undefined; readonly isListed?: boolean }
  /** The project's with exactly this id; a new one with the id if there is none. */
  | { readonly kind: "id"; readonly id: string }
  /** A new one without a file. */
  | { readonly kind: "memory"; readonly id?: string | undefined }
  /** An open log. */
  | { readonly kind: "log"; readonly log: SessionLog }
  /**
   * The one in this file or with this id; if the file does not exist, a new one there. With
   * `goesToItsFolder`, the session's own folder is the project, if it exists, and not `cwd`.
   */
  | { readonly kind: "file"; readonly path: string; readonly goesToItsFolder?: boolean }
  /** The project's latest; a new one if there is none. */
  | { readonly kind: "latest" }
  /** A copy of the one in this file, or with this id. */
  | { readonly kind: "fork"; readonly from: string; readonly id?: string | undefined };

export type StartAtHome = Exclude<SessionStart, { readonly kind: "memory" | "log" }>;

export interface OpenedSession {
  readonly log: SessionLog;
  readonly diagnostics: readonly Diagnostic[];
}

/** How a session is opened. */
export interface OpenOptions extends SessionProject {
  /** Leaves calls open that wait for an approval, because the session asks again. */
  readonly keepsQuestions?: boolean | undefined;
  /** Leaves all calls of a killed host open, because the session goes on with them. */
  readonly keepsCalls?: boolean | undefined;
}

/** What is known of a new session. */
export interface NewSession extends SessionProject {
  readonly parentSession?: string | undefined;
}

/** A session that was read without being opened. */
export interface ReadLog {
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
  /** What names it here; the same however it was asked for. */
  readonly place: string;
  /** Its file, if it has one. */
  readonly path?: string | undefined;
}

/** How the result of a call names the session of a subagent. */
export interface SubagentName {
  readonly sessionFile?: string | undefined;
  readonly storedSession?: string | undefined;
}

/** Where the sessions of a project live: in files, in a store, or, without a folder, in memory. */
export interface SessionHome {
  /** An empty session. */
  create(session: NewSession): SessionLog;
  /**
   * Opens the session that a session begins with.
   *
   * @throws {SessionError} `session_not_found`, `session_locked`, `session_invalid`, `session_unreadable`,
   *   `session_write_failed`, `invalid_option`, `workspace_mismatch`
   */
  open(start: StartAtHome, options: OpenOptions): Promise<OpenedSession>;
  /** Opens a session that must be there. As {@link open}. */
  openExisting(name: string, options: OpenOptions): Promise<OpenedSession>;
  /**
   * Reads a session that another host may write, without opening it.
   *
   * @throws {SessionError} `session_not_found`, `session_invalid`, `session_unreadable`, `session_damaged`,
   *   `session_write_failed`
   */
  read(name: string, cwd: string): Promise<ReadLog>;
  /** Reads the session of a subagent of the session `caller`; undefined if it is not there. */
  readSubagent(caller: Omit<ReadLog, "entries">, named: SubagentName): Promise<ReadLog | undefined>;
  /** What names a session here, as somebody gives it: an absolute path, or an id in a store. */
  nameOf(given: string, cwd: string): string;
  /** Whether a log is the session of this name. */
  isNamed(log: SessionLog, name: string): boolean;
  /** The sessions of the project, the latest first; with `all`, those of every project that can be listed. */
  list(options: { readonly all: boolean }): Promise<SessionInfo[]>;
  /**
   * Deletes a session that nobody writes.
   *
   * @throws {SessionError} `session_not_found`, `session_locked`, `session_invalid`, `session_write_failed`
   */
  delete(name: string): Promise<void>;
}
