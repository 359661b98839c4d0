import {
  type Dialect,
  type EventOrder,
  type ExtensionUiRequest,
  type ExtensionUiResponse,
  type HostAnswer,
  type Params,
  ProtocolError,
  type Result,
  type SessionEvent,
} from "@tau-agent/rpc-protocol";
import type { WorkMethod } from "@tau-agent/rpc-protocol/plain";
import { ClientRequests } from "../../rpc/connection/client-requests.ts";
import { Connection, type SessionTag } from "../../rpc/connection/connection.ts";
import { diagnosticEvent } from "../../rpc/connection/diagnostic-event.ts";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { AfterAnswer, AttachedSession } from "../../rpc/handlers/contexts.ts";
import type {
  HostedSession,
  SessionClosedReason,
  SessionListener,
} from "../sessions/hosted-session.ts";
import type { ReplayedFrame } from "../sessions/replay-ring.ts";

export interface AttachmentOptions {
  readonly hosted: HostedSession;
  readonly writer: LineWriter;
  readonly dialect: Dialect;
  /** Whether frames name their session, as they do in a host with many sessions. */
  readonly namesSession: boolean;
  /** The client sends one command and receives only the answer. */
  readonly isOneShot?: boolean | undefined;
  /** Called when the client starts listening. */
  readonly onListen?: (() => void) | undefined;
  readonly onClosed: () => void;
}

/** One client's connection to one session: its commands and, while it listens, the session's frames. */
export class Attachment implements SessionListener, AttachedSession {
  readonly hosted: HostedSession;
  readonly connection: Connection;
  readonly requests: ClientRequests;
  /** Requests were already open when the client attached, and it has not received them. */
  missesRequests = false;
  readonly #options: AttachmentOptions;
  readonly #tag: SessionTag;
  #stop: (() => void) | undefined;
  #isReplaying = false;
  /** How many of the session's diagnostics the client has received. */
  #diagnosed = 0;

  constructor(options: AttachmentOptions) {
    const { hosted, writer, namesSession } = options;
    this.#options = options;
    this.hosted = hosted;
    this.#tag = namesSession ? { sessionId: hosted.sessionId } : {};
    this.connection = new Connection(
      hosted.keepsFrames ? this.#replayable(writer) : writer,
      options.dialect,
      hosted.nextOrder,
      namesSession ? this.#tag : undefined,
    );
    this.connection.isSettled = !hosted.session.isBusy;
    this.requests = new ClientRequests(this.connection, hosted.session.requests);
  }

  get isListening(): boolean {
    return this.#stop !== undefined;
  }

  /** Starts sending the session's frames to the client. */
  listen(): void {
    this.#stop ??= this.hosted.listen(this);
    this.hosted.requests.add(this.requests);
    this.#options.onListen?.();
  }

  /** Stops sending frames. */
  leave(): void {
    if (this.#stop === undefined) return;
    this.connection.flush();
    this.#stop();
    this.#stop = undefined;
    this.hosted.requests.remove(this.requests);
  }

  attach(params: Params<"attach">, afterAnswer: AfterAnswer): Result<"attach"> {
    this.#refuseOther("attach", params.sessionId);
    this.connection.flush();
    this.connection.showsOrder = true;
    if (!this.#options.isOneShot) afterAnswer(() => this.follow(params));
    return this.#snapshot();
  }

  detach({ sessionId }: Params<"detach">): void {
    this.#refuseOther("detach", sessionId);
    this.leave();
  }

  catchUp(): void {
    if (!this.isListening) return;
    if (!this.#options.namesSession) this.#diagnose();
    this.repeatRequests();
  }

  takeWork(method: WorkMethod): void {
    this.hosted.requests.workBy(this.requests, method);
  }

  orderWork(method: WorkMethod): void {
    this.hosted.requests.orderWork(method);
  }

  answerDialog(response: ExtensionUiResponse): void {
    this.hosted.requests.answeredBy(this.requests, () => this.requests.answerDialog(response));
  }

  answerRequest(answer: HostAnswer): void {
    this.hosted.requests.answeredBy(this.requests, () => this.requests.answer(answer));
  }

  /** Sends what the client has missed, then `live`, then frames as they arrive. */
  follow({ streamId, after }: Pick<Params<"attach">, "streamId" | "after">): void {
    const { connection, hosted } = this;
    this.listen();
    this.missesRequests = false;
    this.#isReplaying = true;
    if (after !== undefined) {
      const missed = hosted.resume(streamId, after);
      if ("reason" in missed) {
        const { reason } = missed;
        connection.sendHosting({ type: "resync", ...this.#tag, reason, ...this.#snapshot() });
      } else {
        for (const frame of missed.frames) this.#replay(frame);
      }
    }
    connection.sendHosting({ type: "live", ...this.#tag, seq: hosted.seq });
    this.#isReplaying = false;
  }

  /** Sends the client the open requests that it can answer. */
  repeatRequests(): void {
    this.missesRequests = false;
    this.hosted.requests.repeatTo(this.requests);
  }

  /** Sends the session's diagnostics that the client has not received yet. */
  #diagnose(): void {
    const news = this.hosted.session.diagnostics.slice(this.#diagnosed);
    this.#diagnosed += news.length;
    for (const diagnostic of news) {
      void this.connection.send(diagnosticEvent(diagnostic), this.hosted.nextOrder());
    }
  }

  hear(event: SessionEvent, order: EventOrder): void | Promise<void> {
    if (event.type === "diagnostic") {
      if (!this.connection.isInitialized) return;
      this.#diagnosed += 1;
    }
    return this.connection.send(event, order);
  }

  notice(request: ExtensionUiRequest): void {
    this.connection.ask(request);
  }

  closed(reason: SessionClosedReason): void {
    this.connection.flush();
    this.#stop = undefined;
    const { sessionId } = this.#tag;
    if (sessionId !== undefined) {
      this.connection.sendHosting({ type: "session_closed", sessionId, reason });
    }
    this.#options.onClosed();
  }

  /** Where the session runs. */
  #snapshot(): Result<"attach"> {
    const { session, message, streamId, seq } = this.hosted;
    return {
      state: session.state,
      pendingRequests: [...session.requests.pending],
      ...(message === undefined ? {} : { message }),
      streamId,
      seq,
    };
  }

  /** In a host with one session, a client may leave the session's id out. */
  #refuseOther(command: string, sessionId: string | undefined): void {
    if (this.#options.namesSession) return;
    if (!this.hosted.keepsFrames) throw new ProtocolError("multi_session_disabled", { command });
    if (sessionId === undefined || sessionId === this.hosted.session.state.sessionId) return;
    throw new ProtocolError("unknown_session", { sessionId });
  }

  #replay({ kind, frame, order }: ReplayedFrame): void {
    if (kind === "event") void this.hear(frame, order);
    else if (kind === "notice") this.connection.ask(frame, order);
    else if (this.requests.hearsEnds) this.connection.sendRequest(frame, order);
  }

  /** Frames that are replayed at the client's request do not count as unread events. */
  #replayable(writer: LineWriter): LineWriter {
    return {
      get isDrained() {
        return writer.isDrained;
      },
      ...(writer.flushes && { flushes: writer.flushes }),
      onDrain: (listener) => writer.onDrain(listener),
      whenDrained: () => writer.whenDrained(),
      write: (line, isAnswer = false) => writer.write(line, isAnswer || this.#isReplaying),
    };
  }
}
