import type { ClientEvent, Result } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { ConnectionClosedError } from "../base/errors.ts";
import type { Connection } from "../connection/connection.ts";
import { EventFilter } from "../events/event-filter.ts";
import { EventHub } from "../events/event-hub.ts";
import type { HostLink } from "./host-link.ts";
import { SessionChannel, type SessionChannelOptions } from "./session-channel.ts";

/** Sent after a lost connection was restored. */
export interface ReconnectedEvent {
  type: "reconnected";
  /** False if frames are missing: the session has to be read again. */
  resumed: boolean;
  /** The state of the session. */
  state: Result<"attach">["state"];
}

export interface LinkedHost {
  readonly handlers: SessionChannelOptions["handlers"];
  readonly info: Result<"initialize"> | undefined;
  readonly isStopping: boolean;
  write(line: string): void;
  note(text: string): void;
}

/** One session of a host over consecutive connections: its frames, and the position up to which they were read. */
export class SessionLink implements HostLink {
  readonly hub = new EventHub();
  readonly filter = new EventFilter();
  readonly channel: SessionChannel;
  readonly sessionId: string | undefined;
  /** The position of the last frame; undefined if the host does not replay frames. */
  position: { streamId: string; seq: number } | undefined;
  readonly #host: LinkedHost;
  #ended: ConnectionClosedError | undefined;
  #isStopping = false;
  #live: PromiseWithResolvers<boolean> = Promise.withResolvers();
  #isResumed = true;

  constructor(host: LinkedHost, sessionId?: string) {
    this.#host = host;
    this.#live.promise.catch(() => {});
    this.sessionId = sessionId;
    const tag = sessionId === undefined ? undefined : { sessionId };
    this.channel = new SessionChannel({
      write: (line) => host.write(line),
      note: (text) => host.note(text),
      hub: this.hub,
      handlers: host.handlers,
      tag,
      idPrefix: sessionId === undefined ? "c" : "s",
      namesPrompts: true,
    });
  }

  get host(): Result<"initialize"> | undefined {
    return this.#host.info;
  }

  get ended(): ConnectionClosedError | undefined {
    return this.#ended;
  }

  get isStopping(): boolean {
    return this.#isStopping || this.#host.isStopping;
  }

  connection(): Connection {
    if (this.#ended !== undefined) throw this.#ended;
    return this.channel.connection;
  }

  receive(frame: Readonly<Record<string, unknown>>): void {
    const { type, seq, streamId, message } = frame;
    if (type === "live") {
      this.#live.resolve(this.#isResumed);
      return;
    }
    if (type !== "response" && typeof seq === "number" && this.position !== undefined) {
      this.position.seq = seq;
    }
    if (type === "resync") {
      this.#isResumed = false;
      if (typeof streamId === "string") this.position = { streamId, seq: Number(seq) };
      this.#continueReply(message);
      return;
    }
    this.channel.connection.receiveFrame(frame);
    if (type === "session_closed") this.end("The session was closed", false);
  }

  /** Handles the answer to the first `attach`; with a cursor, the frames after it follow. */
  attached({ streamId, seq, message }: Result<"attach">): void {
    if (this.position !== undefined) return;
    this.position = { streamId, seq };
    this.#continueReply(message);
  }

  /** A reply was streaming when the connection attached. */
  #continueReply(message: unknown): void {
    if (isJsonObject(message)) this.channel.connection.continueReply(message as never);
  }

  /** Expects the frames that follow `attach`; resolves at `live` to whether none are missing. */
  expectLive(): Promise<boolean> {
    this.#live = Promise.withResolvers<boolean>();
    this.#isResumed = true;
    // The promise may reject before anybody awaits it.
    this.#live.promise.catch(() => {});
    return this.#live.promise;
  }

  /** The connection was lost, so `live` will not arrive on it. */
  cut(error: ConnectionClosedError): void {
    this.#live.reject(error);
  }

  /** Notifies listeners that the connection is restored. */
  reconnected(resumed: boolean, state: Result<"attach">["state"]): void {
    const event: ReconnectedEvent = { type: "reconnected", resumed, state };
    this.hub.emit(event as unknown as ClientEvent);
  }

  /** The session or its connection is closed for good. */
  end(reason: string, wasAsked: boolean): void {
    if (this.#ended !== undefined) return;
    const error = new ConnectionClosedError(reason);
    this.#ended = error;
    this.#isStopping = wasAsked;
    this.#live.reject(error);
    this.channel.close(error);
    this.hub.close(error, wasAsked);
  }
}
