import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Diagnostic } from "../base/diagnostic.ts";
import { SessionError } from "../base/errors.ts";
import { randomUuid } from "../base/random.ts";
import { answerLeftCalls, answerOpenCalls } from "./answer-open-calls.ts";
import { SessionLease } from "./file/session-lease.ts";
import type { SessionInfo } from "./list-sessions.ts";
import { type LogStore, SessionLog, type SessionLogOptions } from "./session-log.ts";

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

/** A store of sessions, which are named by their ids there. */
export interface SessionHome extends LogStore {
  /** Opens the session that a session begins with. */
  open(start: SessionStart, options: SessionLogOptions): Promise<OpenedSession>;
  /** Opens a session that must be there. */
  openExisting(id: string, options: SessionLogOptions): Promise<OpenedSession>;
  /** The sessions of the project, the latest first. */
  list(): Promise<SessionInfo[]>;
  /** Deletes a session that nobody writes. */
  delete(id: string): Promise<void>;
}

/** Where to look for a session. */
export interface OpenOptions extends SessionLogOptions {
  readonly store?: SessionHome | undefined;
}

/** A session log with the problems found in its file. */
export interface OpenedSession {
  readonly log: SessionLog;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Opens or creates the log that a session begins with.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_unreadable`, `session_locked`,
 *   `session_write_failed`, `invalid_option`
 */
export async function openSession(
  start: SessionStart = { kind: "new" },
  options: OpenOptions,
): Promise<OpenedSession> {
  const { store } = options;
  if (store !== undefined && start.kind !== "log" && start.kind !== "memory") {
    if ("id" in start && start.id !== undefined) checkId(start.id);
    return store.open(start, options);
  }
  switch (start.kind) {
    case "file":
      return load(await sessionPathOf(start.path, options), options);
    case "latest":
      return openLatest(options);
    case "id":
      return openWithId(start.id, options);
    case "log":
      await answerOpenCalls(start.log, { keepsQuestions: options.keepsQuestions });
      return { log: start.log, diagnostics: [] };
    case "fork":
      return forkSession(start.from, start.id, options);
    case "new": {
      const log = createLog(start.id, options);
      if (start.isListed === true) log.begin();
      return { log, diagnostics: [] };
    }
    default:
      return { log: createLog(start.id, { ...options, store: undefined }), diagnostics: [] };
  }
}

/**
 * Opens an existing session file; unlike at the start, a missing path is an error.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_unreadable`, `session_locked`
 */
export async function openExistingSession(
  path: string,
  options: OpenOptions,
): Promise<OpenedSession> {
  if (options.store !== undefined) return options.store.openExisting(path, options);
  if (!existsSync(path)) throw new SessionError("session_not_found", { path });
  return load(path, options);
}

async function load(path: string, options: SessionLogOptions): Promise<OpenedSession> {
  const opened = await SessionLog.load(path, options);
  await answerOpenCalls(opened.log, { keepsQuestions: options.keepsQuestions });
  return opened;
}

async function openLatest(options: SessionLogOptions): Promise<OpenedSession> {
  const { directory, cwd } = options;
  const { latestSession } = await import("./list-sessions.ts");
  const path = directory === undefined ? undefined : await latestSession(directory, cwd);
  if (path === undefined) return { log: createLog(undefined, options), diagnostics: [] };
  return load(path, options);
}

async function openWithId(id: string, options: SessionLogOptions): Promise<OpenedSession> {
  checkId(id);
  const { directory, cwd } = options;
  const { sessionWithId } = await import("./list-sessions.ts");
  const path = directory === undefined ? undefined : await sessionWithId(directory, cwd, id);
  if (path === undefined) return { log: createLog(id, options), diagnostics: [] };
  return load(path, options);
}

/** Everything of the other session is copied, whichever project it belongs to. */
async function forkSession(
  from: string,
  id: string | undefined,
  options: SessionLogOptions,
): Promise<OpenedSession> {
  const path = await sessionPathOf(from, options);
  if (!existsSync(path)) throw new SessionError("session_not_found", { path });
  // Loaded for files only (row `start`).
  const [{ readSessionFile }, { migrateEntries }] = await Promise.all([
    import("./file/read-session-file.ts"),
    import("./entries/migrate.ts"),
  ]);
  const { header, entries, diagnostics } = await readSessionFile(path);
  if (header === undefined) {
    throw new SessionError("session_invalid", { path, reason: "it is empty" });
  }
  const log = createLog(id, { ...options, parentSession: path });
  log.takeOver(migrateEntries({ header, entries }));
  // If its host is alive, the calls continue there; only the copy lacks their results.
  if (SessionLease.isHeld(path)) answerLeftCalls(log);
  else await answerOpenCalls(log, { writtenIn: path });
  return { log, diagnostics };
}

function createLog(id: string | undefined, options: SessionLogOptions): SessionLog {
  if (id !== undefined) checkId(id);
  return SessionLog.create({ ...options, id: id ?? randomUuid() });
}

function checkId(id: string): void {
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id)) {
    const reason =
      "it takes letters, digits, dots, dashes and underscores, with a letter or digit at both ends";
    throw new SessionError("invalid_option", { option: "session.id", reason });
  }
}

/**
 * The file for a path or an id. What does not look like a path is the id of a session of this
 * project.
 *
 * @throws {SessionError} `session_not_found`
 */
export async function sessionPathOf(
  value: string,
  { cwd, directory }: SessionLogOptions,
): Promise<string> {
  const path = resolve(cwd, value);
  const isPath = isAbsolute(value) || /[/\\]|\.jsonl$/.test(value) || existsSync(path);
  if (isPath || directory === undefined) return path;
  const { findSession } = await import("./list-sessions.ts");
  const found = await findSession(directory, value);
  if (found === undefined) throw new SessionError("session_not_found", { path: value });
  return found;
}
