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
  ReadLog,
  SessionHome,
  StartAtHome,
  SubagentName,
} from "./session-home.ts";
import { SessionLog } from "./session-log.ts";
import type { SessionProject } from "./session-project.ts";
import type { FsyncMode } from "./writers/file-writer.ts";

export interface FileHomeOptions {
  /** The folder for the sessions of a working folder; if undefined, new sessions stay in memory. */
  readonly directoryOf: (cwd: string) => string | undefined;
  /** The folder that contains the session folders of all projects. */
  readonly root: string;
  readonly fsync?: FsyncMode | undefined;
}

/** Sessions in files, which are named by their paths. */
export class FileHome implements SessionHome {
  readonly #options: FileHomeOptions;
  readonly #project: SessionProject;

  /** @param project - the project whose sessions are listed */
  constructor(project: SessionProject, options: FileHomeOptions) {
    this.#project = project;
    this.#options = options;
  }

  create(session: NewSession & { readonly id?: string | undefined }): SessionLog {
    const { directoryOf, fsync } = this.#options;
    return SessionLog.create({ ...session, fsync, directory: directoryOf(session.cwd) });
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

  async read(name: string, cwd: string): Promise<ReadLog> {
    const { readLoggedFile } = await import("./read-logged-file.ts");
    return readLoggedFile(await sessionPathOf(name, cwd, this.#options.directoryOf(cwd)));
  }

  async readSubagent(
    { path, header }: Pick<ReadLog, "header" | "path">,
    { sessionFile }: SubagentName,
  ): Promise<ReadLog | undefined> {
    if (sessionFile === undefined) return undefined;
    const { readSubagentFile } = await import("./subagent-sessions.ts");
    return readSubagentFile({ path, header }, sessionFile);
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
    const { cwd, workspaceId } = this.#project;
    const { root, directoryOf } = this.#options;
    const directory = directoryOf(cwd);
    if (!all && directory === undefined) return [];
    const found = await (all ? listAllSessions(root) : sessionsIn(directory ?? root));
    return found.filter((session) => session.workspaceId === workspaceId);
  }

  async delete(path: string): Promise<void> {
    const { deleteSession } = await import("./file/delete-session.ts");
    await deleteSession(path);
  }

  async #load(path: string, options: OpenOptions): Promise<OpenedSession> {
    const { keepsQuestions, keepsCalls, ...project } = options;
    const opened = await SessionLog.load(path, { ...project, fsync: this.#options.fsync });
    if (!keepsCalls) await answerOpenCalls(opened.log, { keepsQuestions });
    return opened;
  }

  async #openNamed(value: string, options: OpenOptions): Promise<OpenedSession> {
    const { cwd } = options;
    return this.#load(await sessionPathOf(value, cwd, this.#options.directoryOf(cwd)), options);
  }

  async #openNew(
    { id, isListed }: { readonly id?: string | undefined; readonly isListed?: boolean },
    { cwd, workspaceId }: OpenOptions,
  ): Promise<OpenedSession> {
    const log = this.create({ cwd, workspaceId, id });
    if (isListed === true) log.begin();
    return { log, diagnostics: [] };
  }

  async #openLatest(options: OpenOptions): Promise<OpenedSession> {
    const { latestSession } = await import("./list-sessions.ts");
    const directory = this.#options.directoryOf(options.cwd);
    const path = directory === undefined ? undefined : await latestSession(directory, options);
    return path === undefined ? this.#openNew({}, options) : this.#load(path, options);
  }

  async #openWithId(id: string, options: OpenOptions): Promise<OpenedSession> {
    const { sessionWithId } = await import("./list-sessions.ts");
    const directory = this.#options.directoryOf(options.cwd);
    const path = directory === undefined ? undefined : await sessionWithId(directory, options, id);
    return path === undefined ? this.#openNew({ id }, options) : this.#load(path, options);
  }

  /** Copies everything of the other session, whichever project it belongs to. */
  async #fork(
    { from, id }: { readonly from: string; readonly id?: string | undefined },
    { cwd, workspaceId }: OpenOptions,
  ): Promise<OpenedSession> {
    const path = await sessionPathOf(from, cwd, this.#options.directoryOf(cwd));
    if (!existsSync(path)) throw new SessionError("session_not_found", { path });
    // Loaded only for forks (row `start`).
    const [{ readSessionFile }, { migrateEntries }] = await Promise.all([
      import("./file/read-session-file.ts"),
      import("./entries/migrate.ts"),
    ]);
    const { header, entries, diagnostics } = await readSessionFile(path);
    if (header === undefined) {
      throw new SessionError("session_invalid", { path, reason: "it is empty" });
    }
    const log = this.create({ cwd, workspaceId, id, parentSession: path });
    log.takeOver(migrateEntries({ header, entries }));
    // If the original host is alive, it completes the calls; only the copy lacks their results.
    if (SessionLease.isHeld(path)) answerLeftCalls(log);
    else await answerOpenCalls(log, { writtenIn: path });
    return { log, diagnostics };
  }
}

/**
 * The file for a path or an id. Text that does not look like a path is the id of a session of this project.
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
