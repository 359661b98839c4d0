import type { AgentSession } from "@tau-agent/coding-agent";
import type {
  CommandFrame,
  EventOrder,
  ExtensionUiRequest,
  HostedSessionInfo,
  HostingFrame,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { diagnosticEvent } from "../../rpc/connection/diagnostic-event.ts";
import type { ClientPlace } from "./client-place.ts";
import type { KeptFrame, ReplayedFrame, ReplayRing, RingLimits } from "./replay-ring.ts";
import { SharedRequests } from "./shared-requests.ts";
import type { UiNotices } from "./ui-notices.ts";

export interface SessionListener {
  /** Takes an event; returns a promise if the session should wait. */
  hear(event: SessionEvent, order: EventOrder): void | Promise<void>;
  /** Takes a request with which an extension notifies the client. */
  notice(request: ExtensionUiRequest): void;
  /** The session is closed; no other call follows. */
  closed(reason: SessionClosedReason): void;
}

export type SessionClosedReason = Extract<HostingFrame, { type: "session_closed" }>["reason"];

/** How a client resumes: with frames to replay, or with the reason why it has to read the session again. */
export type Resumption =
  | { readonly frames: Iterable<ReplayedFrame> }
  | { readonly reason: Extract<HostingFrame, { type: "resync" }>["reason"] };

export interface HostedSessionOptions {
  readonly sessionId: string;
  readonly session: AgentSession;
  /** The notifications of extensions so far. */
  readonly notices: UiNotices;
  /** The workspace that the session's clients serve, if the session uses one. */
  readonly place?: ClientPlace | undefined;
  /** Called when a client can answer requests. */
  readonly onReady: () => void;
  /** Whether this is the host's only session: clients get its diagnostics after `initialize`. */
  readonly isOnly: boolean;
  /** Creates the buffer of frames for clients that attach again; undefined if clients do not. */
  readonly createRing: ((limits: RingLimits) => ReplayRing) | undefined;
  /** How long a client that runs tools may be disconnected; undefined if clients do not reconnect. */
  readonly graceMs: number | undefined;
  /** Called whenever the session's work ends. */
  readonly onRest: (() => void) | undefined;
  /** Called once the session has been unused for `idleMs`; undefined if the session stays open. */
  readonly onIdle: (() => void) | undefined;
  readonly idleMs: number;
}

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A session with its clients, and the frames they may have missed. */
export class HostedSession {
  readonly sessionId: string;
  readonly session: AgentSession;
  readonly requests: SharedRequests;
  readonly place: ClientPlace | undefined;
  /** Commands that wait until a switch to another conversation has ended. */
  readonly waiting = new Set<CommandFrame>();
  /** Commands that have not been answered yet. */
  readonly running = new Set<Promise<unknown>>();
  readonly #options: HostedSessionOptions;
  readonly #ring: ReplayRing | undefined;
  /** Replaced, not modified, so that each event goes to those who listened when it was sent. */
  #listeners: readonly SessionListener[] = [];
  readonly #unsubscribe: () => void;
  #streamId: string | undefined;
  #seq = 0;
  /** The number of the frame that is being sent to several clients. */
  #shared: { order: EventOrder | undefined } | undefined;
  #message: AgentMessage | undefined;
  #activeAt: number | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosing = false;
  #diagnosed: number;

  constructor(options: HostedSessionOptions) {
    const { session, sessionId, isOnly, createRing, graceMs } = options;
    this.#options = options;
    this.sessionId = sessionId;
    this.session = session;
    this.place = options.place;
    const { settings } = session;
    this.#ring = createRing?.({
      maxFrames: settings.get("replay.maxFrames"),
      maxBytes: settings.get("replay.maxBytes"),
    });
    this.#diagnosed = isOnly ? session.diagnostics.length : 0;
    this.#unsubscribe = session.subscribe((event, order) => this.#hear(event, order));
    this.requests = new SharedRequests({
      requests: session.requests,
      together: (send) => this.together(send),
      keep: (frame) => this.#keep({ kind: "request", frame }),
      graceMs,
    });
    session.onDiagnostic(() => this.diagnose());
    this.touch();
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get keepsFrames(): boolean {
    return this.#ring !== undefined;
  }

  /** Identifies this run of the session; created on first use, because it loads Node's cryptography. */
  get streamId(): string {
    this.#streamId ??= crypto.randomUUID();
    return this.#streamId;
  }

  get seq(): number {
    return this.#seq;
  }

  /** The reply so far, while one is streaming. */
  get message(): AgentMessage | undefined {
    return this.#message;
  }

  get info(): HostedSessionInfo {
    const { sessionId, sessionName = null, cost } = this.session.state;
    const { cwd, timestamp } = this.session.log.header;
    const startedAt = Date.parse(timestamp);
    return {
      sessionId: this.sessionId,
      durableSessionId: sessionId,
      sessionPath: this.session.log.path ?? null,
      cwd,
      name: sessionName,
      status: this.#isClosing ? "closing" : this.session.isBusy ? "running" : "idle",
      cost,
      pendingRequests: this.session.requests.size,
      startedAt,
      activeAt: this.#activeAt ?? startedAt,
    };
  }

  /** The number of the next frame, or of the current one while it is being sent to several clients. */
  readonly nextOrder = (): EventOrder => {
    const order = this.#shared?.order ?? this.session.nextOrder();
    if (this.#shared !== undefined) this.#shared.order = order;
    this.#note(order);
    return order;
  };

  /** Sends the same frame to several clients: all of them get it with the same number. */
  together(send: () => void): void {
    if (this.#shared !== undefined) {
      send();
      return;
    }
    this.#shared = { order: undefined };
    try {
      send();
    } finally {
      this.#shared = undefined;
    }
  }

  /** Subscribes the listener to every frame from now on; returns the function that unsubscribes it. */
  listen(listener: SessionListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    this.touch();
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
      this.touch();
    };
  }

  resume(streamId: string | undefined, after: number): Resumption {
    if (streamId !== undefined && streamId !== this.streamId) return { reason: "stream_changed" };
    const problem = this.#ring?.problemWith(after);
    return problem === undefined ? { frames: this.#ring?.after(after) ?? [] } : { reason: problem };
  }

  /** Lets extensions send notifications: the first client has attached. */
  begin(): void {
    this.#options.notices.attach((notice) => this.#notice(notice));
    void this.session.hooks?.begin();
  }

  /** A client can answer requests from now on. */
  ready(): void {
    this.#options.onReady();
  }

  /** Sends the notification of an extension to its client. */
  #notice(frame: ExtensionUiRequest): void {
    // Open dialogs are sent together with the other open requests.
    if (this.session.requests.get(frame.id) !== undefined) return;
    this.together(() => {
      this.#keep({ kind: "notice", frame });
      for (const listener of this.#listeners) listener.notice(frame);
    });
  }

  diagnose(): void {
    const { diagnostics } = this.session;
    const news = diagnostics.slice(this.#diagnosed);
    this.#diagnosed = diagnostics.length;
    for (const diagnostic of news) void this.#hear(diagnosticEvent(diagnostic), this.nextOrder());
  }

  /** The session was used, so it is idle in `idleMs` at the earliest. */
  touch(): void {
    if (this.#options.onIdle === undefined) return;
    clearTimeout(this.#idleTimer);
    if (this.#isClosing || this.#listeners.length > 0) return;
    const wait = Math.min(this.#options.idleMs, MAX_TIMER_MS);
    this.#idleTimer = setTimeout(() => void this.#closeUnused(), wait);
    this.#idleTimer.unref();
  }

  /** Ends the session. Frames that result from this still reach its clients. */
  async end(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#idleTimer);
    await this.session.dispose();
    await Promise.allSettled(this.running);
    this.#unsubscribe();
    this.requests.end();
  }

  /** Notifies all clients but one that the session is closed. */
  dismiss(reason: SessionClosedReason, except?: SessionListener): void {
    for (const listener of this.#listeners) {
      if (listener !== except) listener.closed(reason);
    }
    this.#listeners = [];
  }

  #note({ seq }: EventOrder): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#ring?.skip(seq);
  }

  #keep(frame: KeptFrame): void {
    if (this.#ring !== undefined) this.#ring.push(frame, this.nextOrder());
  }

  /** Background jobs also count as work. */
  async #closeUnused(): Promise<void> {
    const jobs = await this.session.jobs.list().catch(() => []);
    const isUsed = this.session.isBusy || this.running.size > 0 || this.#listeners.length > 0;
    if (isUsed || jobs.some(({ status }) => status === "running")) this.touch();
    else if (!this.#isClosing) this.#options.onIdle?.();
  }

  #hear(event: SessionEvent, order: EventOrder): void | Promise<void> {
    this.#follow(event);
    this.#activeAt = Date.now();
    this.#note(order);
    this.#ring?.push({ kind: "event", frame: event }, order);
    let waits: Promise<void> | undefined;
    for (const listener of this.#listeners) {
      const wait = listener.hear(event, order);
      if (wait !== undefined) waits = waits?.then(() => wait) ?? wait;
    }
    return waits;
  }

  #follow(event: SessionEvent): void {
    if (event.type === "message_start" && event.message.role === "assistant") {
      this.#message = event.message;
    } else if (event.type === "message_update") {
      this.#message = event.message;
    } else if (event.type === "message_end" || event.type === "agent_end") {
      this.#message = undefined;
    } else if (event.type === "agent_settled") {
      this.touch();
      this.#options.onRest?.();
    }
  }
}
