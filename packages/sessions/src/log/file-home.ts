import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { answerLeftCalls, answerOpenCalls } from "./answer-open-calls.ts";
import { SessionLease } from "./file/session-lease.ts";
import type { SessionInfo } from "./list-sessions.ts";
import type {
  NewSession,
  OpenedSession,
  OpenOptions,
  SessionHome,
  StartAtHome,
} from "./session-home.ts";
import { SessionLog } from "./session-log.ts";
import type { FsyncMode } from "./writers/file-writer.ts";

export interface FileHomeOptions {
  /** The folder for the sessions of a working folder; undefined keeps new sessions in memory. */
  readonly directoryOf: (cwd: string) => string | undefined;
  /** The folder that holds those of all projects. */
  readonly root: string;
  readonly fsync?: FsyncMode | undefined;
}

/** Sessions in files, which paths name. */
export class FileHome implements SessionHome {
  readonly #options: FileHomeOptions;
  readonly #cwd: string;

  /** @param cwd - the project whose sessions are listed */
  constructor(cwd: string, options: FileHomeOptions) {
    this.#cwd = cwd;
    this.#options = options;
  }

  create({
    cwd,
    parentSession,
    id,
  }: NewSession & { readonly id?: string | undefined }): SessionLog {
    const { directoryOf, fsync } = this.#options;
    return SessionLog.create({ cwd, id, parentSession, fsync, directory: directoryOf(cwd) });
  }

  open(start: StartAtHome, options: OpenOptions): Promise<OpenedSession> {
    switch (start.kind) {
      case "file":
        return this.#openNamed(start.path, options);
      case "latest":
        return this.#openLatest(options);
      case "id":
        return this.#openWithId(start.id, options);
      case "fork":
        return this.#fork(start, options);
      default:
        return this.#openNew(start, options);
    }
  }

  async openExisting(path: string, options: OpenOptions): Promise<OpenedSession> {
    if (!existsSync(path)) throw new SessionError("session_not_found", { path });
    return this.#load(path, options);
  }

  nameOf(given: string, cwd: string): string {
    return resolve(cwd, given);
  }

  isNamed({ path }: SessionLog, name: string): boolean {
    if (path === undefined) return false;
    try {
      return realpathSync(path) === realpathSync(name);
    } catch {
      return path === name;
    }
  }

  async list({ all }: { readonly all: boolean }): Promise<SessionInfo[]> {
    const { listAllSessions, sessionsIn } = await import("./list-sessions.ts");
    if (all) return listAllSessions(this.#options.root);
    const directory = this.#options.directoryOf(this.#cwd);
    return directory === undefined ? [] : sessionsIn(directory);
  }

  async delete(path: string): Promise<void> {
    const { deleteSession } = await import("./file/delete-session.ts");
    await deleteSession(path);
  }

  async #load(path: string, { cwd, keepsQuestions }: OpenOptions): Promise<OpenedSession> {
    const opened = await SessionLog.load(path, { cwd, fsync: this.#options.fsync });
    await answerOpenCalls(opened.log, { keepsQuestions });
    return opened;
  }

  async #openNamed(value: string, options: OpenOptions): Promise<OpenedSession> {
    const { cwd } = options;
    return this.#load(await sessionPathOf(value, cwd, this.#options.directoryOf(cwd)), options);
  }

  async #openNew(
    { id, isListed }: { readonly id?: string | undefined; readonly isListed?: boolean },
    { cwd }: OpenOptions,
  ): Promise<OpenedSession> {
    const log = this.create({ cwd, id });
    if (isListed === true) log.begin();
    return { log, diagnostics: [] };
  }

  async #openLatest(options: OpenOptions): Promise<OpenedSession> {
    const { cwd } = options;
    const { latestSession } = await import("./list-sessions.ts");
    const directory = this.#options.directoryOf(cwd);
    const path = directory === undefined ? undefined : await latestSession(directory, cwd);
    return path === undefined ? this.#openNew({}, options) : this.#load(path, options);
  }

  async #openWithId(id: string, options: OpenOptions): Promise<OpenedSession> {
    const { cwd } = options;
    const { sessionWithId } = await import("./list-sessions.ts");
    const directory = this.#options.directoryOf(cwd);
    const path = directory === undefined ? undefined : await sessionWithId(directory, cwd, id);
    return path === undefined ? this.#openNew({ id }, options) : this.#load(path, options);
  }

  /** Everything of the other session is copied, whichever project it belongs to. */
  async #fork(
    { from, id }: { readonly from: string; readonly id?: string | undefined },
    { cwd }: OpenOptions,
  ): Promise<OpenedSession> {
    const path = await sessionPathOf(from, cwd, this.#options.directoryOf(cwd));
    if (!existsSync(path)) throw new SessionError("session_not_found", { path });
    // Loaded for forks only (row `start`).
    const [{ readSessionFile }, { migrateEntries }] = await Promise.all([
      import("./file/read-session-file.ts"),
      import("./entries/migrate.ts"),
    ]);
    const { header, entries, diagnostics } = await readSessionFile(path);
    if (header === undefined) {
      throw new SessionError("session_invalid", { path, reason: "it is empty" });
    }
    const log = this.create({ cwd, id, parentSession: path });
    log.takeOver(migrateEntries({ header, entries }));
    // If its host is alive, the calls continue there; only the copy lacks their results.
    if (SessionLease.isHeld(path)) answerLeftCalls(log);
    else await answerOpenCalls(log, { writtenIn: path });
    return { log, diagnostics };
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
  cwd: string,
  directory: string | undefined,
): Promise<string> {
  const path = resolve(cwd, value);
  const isPath = isAbsolute(value) || /[/\\]|\.jsonl$/.test(value) || existsSync(path);
  if (isPath || directory === undefined) return path;
  const { findSession } = await import("./list-sessions.ts");
  const found = await findSession(directory, value);
  if (found === undefined) throw new SessionError("session_not_found", { path: value });
  return found;
}
