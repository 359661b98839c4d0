import type { ClientEvent } from "@tau-agent/rpc-protocol";
import type { DeltaEvent } from "../events/delta-event.ts";
import { SessionClient } from "./session-client.ts";
import type { ReconnectedEvent, SessionLink } from "./session-link.ts";

/** The events for listeners of a session in a shared host. */
export type RemoteEvent =
  | ClientEvent
  | ReconnectedEvent
  | { type: "session_closed"; sessionId: string; reason: "closed" | "idle" | "drain" | "error" };

/** A position among the frames of a session, from which a client can resume. */
export interface SessionPosition {
  /** Identifies one run of the session; another run has other frames. */
  readonly streamId: string;
  /** The number of the last received frame. */
  readonly seq: number;
}

/** One session of a host: one method per command, events, and `close` and `detach`. */
export class RemoteSession extends SessionClient implements AsyncDisposable {
  /** The handle of the session in its host. */
  readonly sessionId: string;
  readonly #link: SessionLink;

  /** Use `openSession` or `attachSession` of a client. */
  constructor(link: SessionLink, requestTimeoutMs?: number) {
    super(link, requestTimeoutMs);
    this.#link = link;
    this.sessionId = link.sessionId ?? "";
  }

  /** The position of this client among the frames of the session. */
  get position(): SessionPosition | undefined {
    const { position } = this.#link;
    return position && { ...position };
  }

  /**
   * Calls `listener` with every event of the session, and with `reconnected` after a lost connection was
   * restored. Returns the function that unsubscribes it.
   */
  override onEvent(listener: (event: RemoteEvent) => void): () => void;
  override onEvent(listener: (event: ClientEvent) => void): () => void;
  override onEvent(
    listener: (event: DeltaEvent) => void,
    options: { readonly stream: "delta" },
  ): () => void;
  override onEvent(listener: (event: never) => void, options?: { stream: "delta" }): () => void {
    return super.onEvent(listener as (event: DeltaEvent) => void, options as { stream: "delta" });
  }

  /** Stops what the session is doing and closes it in the host. */
  async close(): Promise<void> {
    if (this.#link.ended !== undefined) return;
    await this.request("close_session", { sessionId: this.sessionId });
    this.#link.end("The session was closed", true);
  }

  /** Stops receiving events; the session continues in the host. */
  async detach(): Promise<void> {
    if (this.#link.ended !== undefined) return;
    await this.request("detach", { sessionId: this.sessionId });
    this.#link.end("The client has detached", true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
