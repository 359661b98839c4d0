import type { AgentSession } from "@tau-agent/coding-agent";
import {
  type ExtensionUiRequest,
  type HostedSessionInfo,
  type Params,
  ProtocolError,
  type Result,
  type SandboxInfo,
} from "@tau-agent/rpc-protocol";
import { within } from "@tau-agent/system";
import type { Host } from "../../rpc/handlers/contexts.ts";
import type { ClientPlace } from "./client-place.ts";
import {
  HostedSession,
  type HostedSessionOptions,
  type SessionClosedReason,
  type SessionListener,
} from "./hosted-session.ts";
import type {
  IsolatedSession,
  IsolatedSessionOptions,
  OpenedIsolated,
} from "./isolated-session.ts";
import { realPath } from "./real-path.ts";
import { UiNotices } from "./ui-notices.ts";

export interface SessionSeams {
  readonly sendUiRequest: (request: ExtensionUiRequest) => void;
  readonly onShutdown: () => void;
  /** Resolves when a client can answer requests. */
  readonly clientReady: Promise<void>;
  /** The workspace that clients serve, if the session uses one. */
  readonly clientPlace?: ClientPlace | undefined;
}

type OpenSession = (params: Params<"open_session">, seams: SessionSeams) => Promise<AgentSession>;

export interface ManySessions {
  readonly openSession: OpenSession;
  /** The policy, which no session can widen. */
  readonly policy: AgentSession["policy"];
  /** Called when a session is opened or closed or its work ends, with the number of sessions, and whether one works. */
  readonly onRest: (open: number, isWorking: () => boolean) => void;
  readonly describeSandbox: () => Promise<SandboxInfo>;
  readonly listSaved: () => Promise<readonly object[]>;
  /** Starts a session in its own process; undefined to keep all sessions in this one. */
  readonly isolate?: IsolateSession | undefined;
}

export interface SessionPoolOptions {
  /** Undefined in a host with one session. */
  readonly many: ManySessions | undefined;
  /** How long a client that runs tools may be disconnected; undefined if clients do not reconnect. */
  readonly graceMs: number | undefined;
  /** Creates the buffer of a session's frames for clients that attach again; undefined if clients do not. */
  readonly createRing: HostedSessionOptions["createRing"];
  readonly idleMs: number;
  readonly drainTimeoutMs: number;
  /** The handle of the first session; a new one by default. */
  readonly handle?: string | undefined;
}

type OpenIn = Parameters<typeof IsolatedSession.open>[1];

type IsolateSession = (
  openIn: OpenIn,
  options: Pick<IsolatedSessionOptions, "sessionId" | "onEnd">,
) => Promise<OpenedIsolated>;

/** A session that is being opened: its file is already reserved. */
interface Opening {
  readonly sessionId: string;
  readonly file: string | undefined;
  readonly durableSessionId: string | undefined;
  readonly cwd: string | undefined;
}

/** The handle of an only session, which no frame shows. */
const ONLY = "";

export class SessionPool implements Host {
  readonly #options: SessionPoolOptions;
  readonly #sessions = new Map<string, HostedSession>();
  readonly #isolated = new Map<string, IsolatedSession>();
  readonly #opening = new Set<Opening>();
  #isFirst = true;
  #solo: HostedSession | undefined;
  #draining: Promise<Result<"drain">> | undefined;
  onDrained: () => void = () => {};
  onClosed: () => void = () => {};

  constructor(options: SessionPoolOptions) {
    this.#options = options;
  }

  /** The open sessions in this process. */
  get sessions(): readonly AgentSession[] {
    return [...this.#sessions.values()].map(({ session }) => session);
  }

  get solo(): HostedSession | undefined {
    return this.#solo;
  }

  get isDraining(): boolean {
    return this.#draining !== undefined;
  }

  /** Opens the only session of the host; all clients share it. */
  async openOnly(
    open: (seams: SessionSeams) => Promise<AgentSession>,
    onShutdown: () => void,
  ): Promise<HostedSession> {
    this.#solo = await this.#host(ONLY, open, onShutdown);
    return this.#solo;
  }

  /** The session with this handle; a host with one session also accepts its id. */
  get(sessionId: string): HostedSession | undefined {
    const solo = this.#solo;
    if (solo === undefined) return this.#sessions.get(sessionId);
    return solo.session.state.sessionId === sessionId ? solo : undefined;
  }

  isolated(sessionId: string): IsolatedSession | undefined {
    return this.#isolated.get(sessionId);
  }

  /** Opens a session in its own process; `openIn` opens it once the process runs. */
  async openIsolated(params: Params<"open_session">, openIn: OpenIn): Promise<OpenedIsolated> {
    const { isolate } = this.#many;
    if (isolate === undefined) throw new TypeError("sessions are not isolated");
    const sessionId = crypto.randomUUID();
    const opening = this.#claim(sessionId, params);
    try {
      const onEnd = () => {
        this.#isolated.delete(sessionId);
        this.onClosed();
      };
      const opened = await isolate(openIn, { sessionId, onEnd });
      this.#isolated.set(sessionId, opened.isolated);
      return opened;
    } finally {
      this.#opening.delete(opening);
    }
  }

  get policy(): AgentSession["policy"] {
    return this.#many?.policy;
  }

  describeSandbox(): Promise<SandboxInfo> {
    return this.#many.describeSandbox();
  }

  saved(): Promise<readonly object[]> {
    return this.#many.listSaved();
  }

  /** All sessions and their current state; sessions in other processes are queried. */
  async current(): Promise<HostedSessionInfo[]> {
    await Promise.all([...this.#isolated.values()].map((session) => session.refresh()));
    return this.list();
  }

  /** All sessions, including those that are being opened. */
  list(): HostedSessionInfo[] {
    const isolated = [...this.#isolated.values()].flatMap(({ info }) => info ?? []);
    const opening = [...this.#opening].map(
      ({ sessionId, file = null, durableSessionId = null, cwd = null }): HostedSessionInfo => ({
        sessionId,
        durableSessionId,
        sessionPath: file,
        cwd,
        name: null,
        status: "opening",
      }),
    );
    const hosted = [...this.#sessions.values()].map(({ info }) => info);
    return [...hosted, ...isolated, ...opening];
  }

  /**
   * Opens a session.
   *
   * @throws {ProtocolError} `invalid_path`, `session_path_in_use`; {SessionError} if it cannot be created
   */
  async open(params: Params<"open_session">, clientPlace?: ClientPlace): Promise<HostedSession> {
    const { openSession } = this.#many;
    const first = this.#isFirst ? this.#options.handle : undefined;
    this.#isFirst = false;
    const sessionId = first ?? crypto.randomUUID();
    const opening = this.#claim(sessionId, params);
    try {
      return await this.#host(
        sessionId,
        (seams) => openSession(params, { ...seams, clientPlace }),
        (hosted) => {
          if (hosted !== undefined) void this.close(hosted, "closed");
        },
        clientPlace,
      );
    } finally {
      this.#opening.delete(opening);
    }
  }

  /**
   * Refuses a session file that another session of this host uses.
   *
   * @throws {ProtocolError} `session_path_in_use`
   */
  refusePathInUse(path: string, except?: AgentSession): void {
    const real = realPath(path);
    const refuse = (sessionId: string): never => {
      throw new ProtocolError("session_path_in_use", { path, sessionId });
    };
    for (const { sessionId, file } of this.#opening) {
      if (file !== undefined && realPath(file) === real) refuse(sessionId);
    }
    for (const { info } of this.#isolated.values()) {
      const used = info?.sessionPath;
      if (info !== undefined && used && realPath(used) === real) refuse(info.sessionId);
    }
    for (const hosted of this.#sessions.values()) {
      const used = hosted.session === except ? undefined : hosted.session.log.path;
      if (used !== undefined && realPath(used) === real) refuse(hosted.sessionId);
    }
  }

  /** Closes a session; all of its clients but one are notified. */
  async close(
    hosted: HostedSession,
    reason: SessionClosedReason,
    except?: SessionListener,
  ): Promise<void> {
    await hosted.end();
    hosted.dismiss(reason, except);
    this.#sessions.delete(hosted.sessionId);
    this.#noteRest();
    // After the response.
    setImmediate(() => this.onClosed());
  }

  async closeAll(): Promise<void> {
    const isolated = [...this.#isolated.values()].map((session) => session.end());
    const hosted = [...this.#sessions.values()].map((session) => session.end());
    await Promise.allSettled([...isolated, ...hosted]);
  }

  /** Gives running work time to end, then closes all sessions. Every caller gets the same result. */
  drain(): Promise<Result<"drain">> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  get #many(): ManySessions {
    const { many } = this.#options;
    if (many === undefined) throw new TypeError("the host has one session");
    return many;
  }

  async #drain(): Promise<Result<"drain">> {
    const all = [...this.#sessions.values()];
    const sessions = await Promise.all(
      all.map(async (hosted) => {
        const { sessionId, session } = hosted;
        await endWithin(session, this.#options.drainTimeoutMs);
        const durableSessionId = session.state.sessionId;
        if (hosted !== this.solo) await this.close(hosted, "drain");
        const handle = hosted === this.solo ? durableSessionId : sessionId;
        const { streamId, seq } = hosted;
        return { sessionId: handle, durableSessionId, streamId, seq };
      }),
    );
    const isolated = await Promise.all(
      [...this.#isolated.values()].map(async (session) => {
        session.isClosing = true;
        const data = await session.ask({ type: "drain" }).catch(() => undefined);
        return (data as Result<"drain"> | undefined)?.sessions ?? [];
      }),
    );
    // After the response.
    setImmediate(() => this.onDrained());
    return { sessions: [...sessions, ...isolated.flat()] };
  }

  #noteRest(): void {
    this.#options.many?.onRest(this.#sessions.size, this.#isWorking);
  }

  readonly #isWorking = (): boolean =>
    this.#opening.size > 0 || this.sessions.some(({ isBusy }) => isBusy);

  async #host(
    sessionId: string,
    open: (seams: SessionSeams) => Promise<AgentSession>,
    onShutdown: (hosted: HostedSession | undefined) => void,
    place?: ClientPlace,
  ): Promise<HostedSession> {
    const { many, createRing, graceMs, idleMs } = this.#options;
    const notices = new UiNotices();
    const { promise: clientReady, resolve: onReady } = Promise.withResolvers<void>();
    let hosted: HostedSession | undefined;
    const session = await open({
      clientReady,
      sendUiRequest: (request) => notices.send(request),
      onShutdown: () => onShutdown(hosted),
    });
    hosted = new HostedSession({
      sessionId,
      session,
      notices,
      place,
      onReady,
      isOnly: many === undefined,
      createRing,
      graceMs,
      idleMs,
      onRest: many && (() => this.#noteRest()),
      onIdle:
        many &&
        (() => {
          if (hosted !== undefined) void this.close(hosted, "idle");
        }),
    });
    this.#sessions.set(sessionId, hosted);
    this.#noteRest();
    return hosted;
  }

  #claim(
    sessionId: string,
    { sessionPath: file, durableSessionId, cwd }: Params<"open_session">,
  ): Opening {
    if (file !== undefined) this.refusePathInUse(file);
    if (durableSessionId !== undefined) this.#refuseIdInUse(durableSessionId, cwd);
    const opening = { sessionId, file, durableSessionId, cwd };
    this.#opening.add(opening);
    return opening;
  }

  /** Before its first message, a session has no file that could be found. */
  #refuseIdInUse(id: string, cwd: string | undefined): void {
    const isHere = (other: string | null | undefined): boolean =>
      cwd === undefined || !other || realPath(other) === realPath(cwd);
    for (const { sessionId, durableSessionId, cwd: folder, sessionPath } of this.list()) {
      if (durableSessionId !== id || !isHere(folder)) continue;
      throw new ProtocolError("session_path_in_use", { path: sessionPath ?? id, sessionId });
    }
  }
}

/** Gives the session's work time to end, then ends the session. */
async function endWithin(session: AgentSession, timeoutMs: number): Promise<void> {
  await within(timeoutMs, session.waitForIdle());
  await session.dispose();
}
