import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { mapSome, randomUuid } from "@tau-agent/system";
import { answerLeftCalls, answerOpenCalls } from "./answer-open-calls.ts";
import { infoOf, latestFirst, type SessionInfo } from "./list-sessions.ts";
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
import { refuseOtherWorkspace } from "./session-project.ts";
import { acquireSession, reaching, readStoredSession } from "./store/open-stored-session.ts";
import { keyOf, placeOf, referenceOf, type StoreAccess } from "./store/store-access.ts";
import { StoreJournal } from "./store/store-journal.ts";
import { storeLog } from "./store/stored-part.ts";
import type { MakeWriter } from "./writers/log-writer.ts";
import { StoreWriter } from "./writers/store-writer.ts";

const CONCURRENCY = 8;

/** Sessions in a store, named by their ids instead of by paths. */
export class StoredSessions implements SessionHome {
  readonly #access: StoreAccess;
  /** For sessions that are only read: their files are not needed. */
  readonly #looking: StoreAccess;
  readonly #workspaceId: string | undefined;

  /** @param workspaceId - the workspace whose sessions are listed; undefined for the host's own machine */
  constructor(access: StoreAccess, workspaceId?: string) {
    this.#workspaceId = workspaceId;
    this.#access = { ...access, putLog: (key, path) => storeLog(this.#access, key, path) };
    this.#looking = { ...access, files: undefined };
  }

  /** The lease is taken with the first entry. */
  create(session: NewSession & { readonly id?: string | undefined }): SessionLog {
    const access = this.#access;
    const makeWriter: MakeWriter = (header, owner) => {
      const key = { projectKey: access.projectKey, sessionId: header.id };
      return new StoreWriter({ access, journal: new StoreJournal(access, key) }, owner);
    };
    return SessionLog.create({ ...session, makeWriter });
  }

  async open(start: StartAtHome, options: OpenOptions): Promise<OpenedSession> {
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
        const { id } = start;
        const log = id === undefined ? this.create(options) : await this.#openOrCreate(id, options);
        return { log, diagnostics: [] };
      }
    }
  }

  /** @param name - an id; for a subagent's, the reference or the session file named in its result */
  async openExisting(name: string, options: OpenOptions): Promise<OpenedSession> {
    const id = this.#partAt(name) ?? name;
    // Checked first: a lease of a missing session would leave a trace.
    if ((await readStoredSession(this.#looking, id)) === undefined) throw this.#missing(id);
    return { log: await this.#openOrCreate(id, options), diagnostics: [] };
  }

  async read(name: string): Promise<ReadLog> {
    const place = this.#partAt(name) ?? name;
    const loaded = await readStoredSession(this.#access, place);
    if (loaded === undefined) throw this.#missing(place);
    return { place, ...loaded };
  }

  /** Reads only parts of the same session, because anyone may have written the name. */
  async readSubagent(
    caller: Pick<ReadLog, "place">,
    { storedSession, sessionFile }: SubagentName,
  ): Promise<ReadLog | undefined> {
    const place = storedSession ?? (sessionFile && this.#partAt(sessionFile));
    const [session] = caller.place.split("/", 1);
    if (!place?.startsWith(`${session}/`)) return undefined;
    return readStoredSession(this.#access, place).then(
      (loaded) => loaded && { place, ...loaded },
      () => undefined,
    );
  }

  /** The reference of the part that stores a subagent's session file. */
  #partAt(path: string): string | undefined {
    const part = this.#access.files?.logAt(path);
    return part && referenceOf({ ...keyOf(this.#access, path), ...part });
  }

  nameOf(given: string): string {
    return given;
  }

  isNamed({ header }: SessionLog, name: string): boolean {
    return header.id === name;
  }

  async list(): Promise<SessionInfo[]> {
    const infos = await mapSome(await this.#ids(), CONCURRENCY, (id) => this.#info(id));
    const found = infos.filter((info) => info !== undefined);
    return latestFirst(found.filter((session) => session.workspaceId === this.#workspaceId));
  }

  async delete(sessionId: string): Promise<void> {
    const { store } = this.#access;
    if ((await readStoredSession(this.#looking, sessionId)) === undefined) {
      throw this.#missing(sessionId);
    }
    const key = keyOf(this.#access, sessionId);
    await reaching(this.#access, sessionId, () => store.delete(key));
  }

  async #openLatest(options: OpenOptions): Promise<OpenedSession> {
    for (const id of await this.#ids()) {
      try {
        return { log: await this.#openOrCreate(id, options), diagnostics: [] };
      } catch (error) {
        if (!(error instanceof SessionError && error.code === "workspace_mismatch")) throw error;
      }
    }
    return { log: this.create(options), diagnostics: [] };
  }

  async #fork(
    { from, id }: { readonly from: string; readonly id?: string | undefined },
    { cwd, workspaceId }: OpenOptions,
  ): Promise<OpenedSession> {
    const loaded = await readStoredSession(this.#access, from);
    if (loaded === undefined) throw this.#missing(from);
    if (id !== undefined && (await readStoredSession(this.#looking, id)) !== undefined) {
      const reason = "the store has a session with this id";
      throw new SessionError("invalid_option", { option: "--session-id", reason });
    }
    const project = { cwd, workspaceId };
    const log = this.create({ ...project, id: id ?? randomUuid(), parentSession: from });
    log.takeOver(loaded.entries);
    answerLeftCalls(log);
    await this.#access.files?.restoreSome();
    return { log, diagnostics: [] };
  }

  async #openOrCreate(id: string, options: OpenOptions): Promise<SessionLog> {
    const { keepsQuestions, keepsCalls, ...project } = options;
    const access = this.#access;
    const { lease, loaded } = await acquireSession(access, id, (found) =>
      refuseOtherWorkspace(found, project, placeOf(access, id)),
    );
    const header = loaded?.header ?? SessionLog.create({ ...project, id }).header;
    const lines = loaded === undefined ? 0 : loaded.entries.length + 1;
    const key = keyOf(access, id);
    const journal = new StoreJournal(access, key, { lease, lines });
    const log = SessionLog.opened(header, loaded?.entries ?? [], (_, owner) => {
      return new StoreWriter({ access, journal }, owner);
    });
    if (!keepsCalls)
      await answerOpenCalls(log, {
        keepsQuestions,
        readLost: async (call) => {
          const { readLostParts } = await import("./lost-parts.ts");
          return readLostParts({ access: this.#looking, key, entries: log.tree.entries, call });
        },
      });
    await access.files?.restoreSome();
    return log;
  }

  /** All ids, the latest session first. */
  async #ids(): Promise<string[]> {
    const { store, projectKey } = this.#access;
    const sessions = await reaching(this.#access, "the list", () => store.list(projectKey));
    return sessions.sort((a, b) => b.modifiedAt - a.modifiedAt).map(({ sessionId }) => sessionId);
  }

  /** Undefined for a log that is not a session, or no longer exists. */
  async #info(id: string): Promise<SessionInfo | undefined> {
    const loaded = await readStoredSession(this.#looking, id).catch((error: unknown) => {
      if (error instanceof SessionError && error.code === "session_damaged") return undefined;
      throw error;
    });
    return loaded && infoOf(id, loaded.header, loaded.entries);
  }

  #missing(id: string): SessionError {
    return new SessionError("session_not_found", { path: placeOf(this.#access, id) });
  }
}
