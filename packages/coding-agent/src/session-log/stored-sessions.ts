import { SessionError } from "../base/errors.ts";
import { randomUuid } from "../base/random.ts";
import { answerLeftCalls, answerOpenCalls } from "./answer-open-calls.ts";
import { infoOf, type SessionInfo } from "./list-sessions.ts";
import type { OpenedSession, SessionHome, SessionStart } from "./open-session.ts";
import { type LogParts, SessionLog, type SessionLogOptions } from "./session-log.ts";
import { SessionTree } from "./session-tree.ts";
import { acquireSession, reaching, readStoredSession } from "./store/open-stored-session.ts";
import { keyOf, placeOf, referenceOf, type StoreAccess } from "./store/store-access.ts";
import { StoreJournal } from "./store/store-journal.ts";
import { storeLog } from "./store/stored-part.ts";
import { StoredLog } from "./stored-log.ts";

/** How many sessions of a list to read at the same time. */
const CONCURRENCY = 8;

/** Sessions are named by their ids here, where those in files are named by paths. */
export class StoredSessions implements SessionHome {
  readonly #access: StoreAccess;
  /** For sessions that are only looked at: their files do not matter here. */
  readonly #looking: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = { ...access, putLog: (key, path) => storeLog(this.#access, key, path) };
    this.#looking = { ...access, files: undefined };
  }

  /** A new session's log; its lease is taken with its first entry. */
  createLog(parts: LogParts): SessionLog {
    const access = this.#access;
    const key = { projectKey: access.projectKey, sessionId: parts.header.id };
    return new StoredLog(parts, { access, journal: new StoreJournal(access, key) });
  }

  /**
   * Opens the session that a session begins with.
   *
   * @throws {SessionError} `session_not_found`, `session_locked`, `session_invalid`, `session_write_failed`
   */
  async open(start: SessionStart, options: SessionLogOptions): Promise<OpenedSession> {
    switch (start.kind) {
      case "file":
        return this.openExisting(start.path, options);
      case "latest":
        return this.#openLatest(options);
      case "fork":
        return this.#fork(start, options);
      case "id":
        return { log: await this.#openOrCreate(start.id, options), diagnostics: [] };
      default: {
        const id = start.kind === "new" ? start.id : undefined;
        if (id === undefined) return { log: SessionLog.create(options), diagnostics: [] };
        return { log: await this.#openOrCreate(id, options), diagnostics: [] };
      }
    }
  }

  /**
   * Opens a session that must be there.
   *
   * @param name - its id; for a subagent's, the reference or the session file that its result names
   * @throws {SessionError} as {@link open}
   */
  async openExisting(name: string, options: SessionLogOptions): Promise<OpenedSession> {
    const part = this.#access.files?.logAt(name);
    const id = part === undefined ? name : referenceOf({ ...keyOf(this.#access, name), ...part });
    // Looked at first: a lease of nothing would leave a trace.
    if ((await readStoredSession(this.#looking, id)) === undefined) throw this.#missing(id);
    return { log: await this.#openOrCreate(id, options), diagnostics: [] };
  }

  /** The sessions of the project, the latest first. */
  async list(): Promise<SessionInfo[]> {
    const ids = await this.#ids();
    const found: SessionInfo[] = [];
    for (let start = 0; start < ids.length; start += CONCURRENCY) {
      const some = ids.slice(start, start + CONCURRENCY);
      const infos = await Promise.all(some.map((id) => this.#info(id)));
      found.push(...infos.filter((info) => info !== undefined));
    }
    return found.sort((a, b) => b.modified.localeCompare(a.modified));
  }

  /**
   * Deletes a session that nobody writes.
   *
   * @throws {SessionError} `session_not_found`, `session_locked`, `session_write_failed`
   */
  async delete(sessionId: string): Promise<void> {
    const { store } = this.#access;
    if ((await readStoredSession(this.#looking, sessionId)) === undefined) {
      throw this.#missing(sessionId);
    }
    const key = keyOf(this.#access, sessionId);
    await reaching(this.#access, sessionId, () => store.delete(key));
  }

  async #openLatest(options: SessionLogOptions): Promise<OpenedSession> {
    const [latest] = await this.#ids();
    if (latest === undefined) return { log: SessionLog.create(options), diagnostics: [] };
    return { log: await this.#openOrCreate(latest, options), diagnostics: [] };
  }

  async #fork(
    { from, id }: { readonly from: string; readonly id?: string | undefined },
    options: SessionLogOptions,
  ): Promise<OpenedSession> {
    const loaded = await readStoredSession(this.#access, from);
    if (loaded === undefined) throw this.#missing(from);
    if (id !== undefined && (await readStoredSession(this.#looking, id)) !== undefined) {
      const reason = "the store has a session with this id";
      throw new SessionError("invalid_option", { option: "--session-id", reason });
    }
    const log = SessionLog.create({ ...options, id: id ?? randomUuid(), parentSession: from });
    log.takeOver(loaded.entries);
    answerLeftCalls(log);
    await this.#access.files?.restoreSome();
    return { log, diagnostics: [] };
  }

  async #openOrCreate(id: string, options: SessionLogOptions): Promise<SessionLog> {
    const access = this.#access;
    const { lease, loaded } = await acquireSession(access, id);
    const header = loaded?.header ?? SessionLog.create({ cwd: options.cwd, id }).header;
    const lines = loaded === undefined ? 0 : loaded.entries.length + 1;
    const key = keyOf(access, id);
    const journal = new StoreJournal(access, key, { lease, lines });
    const parts = { header, path: undefined, tree: new SessionTree() };
    const log = new StoredLog(parts, { access, journal }, loaded?.entries);
    await answerOpenCalls(log, {
      keepsQuestions: options.keepsQuestions,
      readLost: async (call) => {
        const { readLostParts } = await import("./lost-parts.ts");
        return readLostParts({ access: this.#looking, key, entries: log.tree.entries, call });
      },
    });
    await access.files?.restoreSome();
    return log;
  }

  /** The latest first. */
  async #ids(): Promise<string[]> {
    const { store, projectKey } = this.#access;
    const sessions = await reaching(this.#access, "the list", () => store.list(projectKey));
    return sessions.sort((a, b) => b.modifiedAt - a.modifiedAt).map(({ sessionId }) => sessionId);
  }

  /** Undefined for what is not a session, or no longer there. */
  async #info(id: string): Promise<SessionInfo | undefined> {
    const loaded = await readStoredSession(this.#looking, id).catch((error: unknown) => {
      if (error instanceof SessionError && error.code === "session_invalid") return undefined;
      throw error;
    });
    return loaded && infoOf(id, loaded.header, loaded.entries);
  }

  #missing(id: string): SessionError {
    return new SessionError("session_not_found", { path: placeOf(this.#access, id) });
  }
}
