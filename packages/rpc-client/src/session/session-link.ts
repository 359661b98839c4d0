import type { ClientEvent, Result } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { ConnectionClosedError } from "../base/errors.ts";
import type { Connection } from "../connection/connection.ts";
import { EventFilter } from "../events/event-filter.ts";
import { EventHub } from "../events/event-hub.ts";
import type { HostLink } from "./host-link.ts";
import { SessionChannel, type SessionChannelOptions } from "./session-channel.ts";

/** What a lost connection that was made again left behind. */
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

/** One session of a host with several connections: its frames, and how far they were read. */
export class SessionLink implements HostLink {
  readonly hub = new EventHub();
  readonly filter = new EventFilter();
  readonly channel: SessionChannel;
  readonly sessionId: string | undefined;
  /** Where the frames are; undefined where the host replays none. */
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

  /** The answer to the first `attach`; with a cursor, the frames after it are next. */
  attached({ streamId, seq, message }: Result<"attach">): void {
    if (this.position !== undefined) return;
    this.position = { streamId, seq };
    this.#continueReply(message);
  }

  /** A reply was streaming when the connection attached. */
  #continueReply(message: unknown): void {
    if (isJsonObject(message)) this.channel.connection.continueReply(message as never);
  }

  /** Expects the frames that follow `attach`; resolves at `live` to whether nothing is missing. */
  expectLive(): Promise<boolean> {
    this.#live = Promise.withResolvers<boolean>();
    this.#isResumed = true;
    // Somebody may only wait for it once it has failed.
    this.#live.promise.catch(() => {});
    return this.#live.promise;
  }

  /** The connection was lost; `live` does not come on it any more. */
  cut(error: ConnectionClosedError): void {
    this.#live.reject(error);
  }

  /** Tells listeners that the connection is there again. */
  reconnected(resumed: boolean, state: Result<"attach">["state"]): void {
    const event: ReconnectedEvent = { type: "reconnected", resumed, state };
    this.hub.emit(event as unknown as ClientEvent);
  }

  /** The session or its connection is gone for good. */
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
