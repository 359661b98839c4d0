import { connect, type RemoteClient, type RemoteSession } from "@tau-agent/rpc-client/browser";
import { createMarkup, type Markup } from "@tau-agent/rpc-client/markup";
import type { HostedSessionInfo, Result } from "@tau-agent/rpc-protocol";
import { LiveSession } from "./live-session.ts";
import { Questions } from "./questions.ts";

type SavedSession = Result<"list_sessions">["sessions"][number];

const POLL_MS = 2_000;
const MAX_TITLE = 80;

/** The host that serves the page: its sessions, the one that is shown, and the requests that wait for an answer. */
export class Host {
  readonly questions = new Questions(() => {
    this.#changed();
    // Refreshes after the answer is sent, so that the list no longer shows the session as waiting.
    setTimeout(() => void this.refresh().catch(() => {}));
  });
  readonly markup: Markup;
  sessions: readonly HostedSessionInfo[] = [];
  /** Sessions in files or in the host's store; undefined until they are loaded. */
  saved: readonly SavedSession[] | undefined;
  shown: LiveSession | undefined;
  /** Why the connection was lost. */
  lost: string | undefined;
  #client: RemoteClient | undefined;
  #isScheduled = false;
  readonly #attached = new Map<string, Promise<RemoteSession>>();
  readonly #listeners = new Set<() => void>();

  private constructor(markup: Markup) {
    this.markup = markup;
  }

  static async connect(token: string): Promise<Host> {
    const host = new Host(await createMarkup());
    host.#client = await connect(`ws://${location.host}`, {
      token,
      ...host.questions.handlers,
      clientInfo: { name: "tau-console" },
      rewind: true,
      reconnect: { maxMs: 24 * 60 * 60_000 },
    });
    host.#client.onClose((error) => {
      host.lost = error?.message ?? "The connection was closed.";
      host.#changed();
    });
    await host.refresh();
    setInterval(() => {
      if (document.visibilityState === "visible") void host.refresh().catch(() => {});
    }, POLL_MS);
    return host;
  }

  /** Calls `listener` after changes, at most once per frame. Returns the function that ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get client(): RemoteClient {
    if (this.#client === undefined) throw new Error("not connected");
    return this.#client;
  }

  async refresh(): Promise<void> {
    const before = new Map(this.sessions.map((one) => [one.sessionId, one]));
    const listed = await this.client.openSessions();
    // Unchanged entries keep their identity, so they are not drawn again.
    const sessions = listed.map((one) => {
      const known = before.get(one.sessionId);
      return known !== undefined && JSON.stringify(known) === JSON.stringify(one) ? known : one;
    });
    const { sessions: shown } = this;
    this.sessions = sessions.toSorted(
      (a, b) => rank(a) - rank(b) || (b.activeAt ?? 0) - (a.activeAt ?? 0),
    );
    // Only an attached client receives requests, including those that were opened before.
    for (const { sessionId, pendingRequests = 0 } of sessions) {
      if (pendingRequests > 0) void this.#attach(sessionId).catch(() => {});
    }
    const isSame = this.sessions.every((one, at) => one === shown[at]);
    if (!isSame || this.sessions.length !== shown.length) this.#changed();
  }

  async show(sessionId: string | undefined): Promise<void> {
    this.shown?.leave();
    this.shown = undefined;
    this.#changed();
    if (sessionId === undefined) return;
    const live = await LiveSession.open(await this.#attach(sessionId), () => this.#changed());
    this.shown = live;
    this.#changed();
  }

  /** Opens a session and sends the first prompt. */
  async start(options: { cwd?: string; message: string }): Promise<void> {
    const { cwd, message } = options;
    const session = await this.client.openSession(cwd ? { cwd } : {});
    this.#attached.set(session.sessionId, Promise.resolve(session));
    const [title = ""] = message.split("\n");
    await session.setSessionName(title.slice(0, MAX_TITLE));
    await session.prompt(message);
    await this.refresh();
    await this.show(session.sessionId);
  }

  async readSaved(): Promise<void> {
    const { sessions } = await this.client.request("list_sessions", { all: true, saved: true });
    this.saved = sessions;
    this.#changed();
  }

  async openSaved({ path, id }: SavedSession): Promise<void> {
    // In a store, a session is identified only by its id.
    const named = path === id ? { durableSessionId: id } : { sessionPath: path };
    const session = await this.client.openSession(named);
    this.#attached.set(session.sessionId, Promise.resolve(session));
    await this.refresh();
    await this.show(session.sessionId);
  }

  #attach(sessionId: string): Promise<RemoteSession> {
    const known = this.#attached.get(sessionId);
    if (known !== undefined) return known;
    const attached = this.client.attachSession(sessionId);
    this.#attached.set(sessionId, attached);
    const forget = (): void => void this.#attached.delete(sessionId);
    attached.then((session) => session.onClose(forget), forget);
    return attached;
  }

  #changed(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

/** Sessions that wait for the user come first, then those that are running. */
function rank({ pendingRequests = 0, status }: HostedSessionInfo): number {
  if (pendingRequests > 0) return 0;
  return status === "running" ? 1 : 2;
}
