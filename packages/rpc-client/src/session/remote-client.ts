import type { HostedSessionInfo, Params } from "@tau-agent/rpc-protocol";
import type { RemoteOptions } from "./connect-options.ts";
import type { RemoteHost } from "./remote-host.ts";
import { type RemoteEvent, RemoteSession, type SessionPosition } from "./remote-session.ts";
import { SessionClient } from "./session-client.ts";

/** From where a client that attaches receives the events of a session. */
export interface AttachOptions {
  /**
   * The position at which an earlier client stopped; the events since then are sent first. If the host no
   * longer has all of them, listeners get `reconnected` with `resumed: false`.
   */
  readonly after?: SessionPosition | undefined;
  /** Called with all events, including those sent since `after`. */
  readonly onEvent?: ((event: RemoteEvent) => void) | undefined;
}

/**
 * A client of a listening host. If the host has one session, it is a client of that session; with
 * `--sessions`, it opens sessions and attaches to them.
 */
export class RemoteClient extends SessionClient implements AsyncDisposable {
  readonly #host: RemoteHost;
  readonly #requestTimeoutMs: number | undefined;

  /** Use `RpcClient.connect`, or `connect` of the browser client. */
  constructor(host: RemoteHost, { requestTimeoutMs }: RemoteOptions) {
    super(host.main, requestTimeoutMs);
    this.#host = host;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** Opens a separate session in the host. */
  async openSession(params: Params<"open_session"> = {}): Promise<RemoteSession> {
    const { sessionId } = await this.request("open_session", params);
    return new RemoteSession(this.#host.routes.link(sessionId), this.#requestTimeoutMs);
  }

  /** Attaches to a session that another client has opened. */
  async attachSession(sessionId: string, options: AttachOptions = {}): Promise<RemoteSession> {
    const { after, onEvent } = options;
    const link = this.#host.routes.link(sessionId);
    const session = new RemoteSession(link, this.#requestTimeoutMs);
    if (onEvent !== undefined) session.onEvent(onEvent);
    if (after !== undefined) link.position = { ...after };
    const cursor = after && { streamId: after.streamId, after: after.seq };
    try {
      const live = link.expectLive();
      const { pendingRequests, state } = await session.request("attach", { sessionId, ...cursor });
      const isWhole = await live;
      link.channel.takeUp(pendingRequests);
      // As after a lost connection, listeners are notified that frames are missing.
      if (!isWhole) link.reconnected(false, state);
    } catch (error) {
      this.#host.routes.drop(sessionId);
      throw error;
    }
    return session;
  }

  /** The sessions that are open in the host. */
  async openSessions(): Promise<HostedSessionInfo[]> {
    const { sessions } = await this.request("list_sessions", {});
    return sessions as unknown as HostedSessionInfo[];
  }

  /** Closes the connection; sessions continue in the host. */
  async close(): Promise<void> {
    this.#host.close();
  }

  /** The same as {@link close}, under the name used by clients that start their host. */
  stop(): Promise<void> {
    return this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
