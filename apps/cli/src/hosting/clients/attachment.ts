import type {
  CommandFrame,
  Dialect,
  EventOrder,
  ExtensionUiRequest,
  Params,
  Result,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import { ClientRequests } from "../../rpc/connection/client-requests.ts";
import { Connection, type SessionTag } from "../../rpc/connection/connection.ts";
import { eventOf } from "../../rpc/connection/diagnostic-events.ts";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { DispatchOptions } from "../../rpc/dispatch.ts";
import type {
  HostedSession,
  SessionClosedReason,
  SessionListener,
} from "../sessions/hosted-session.ts";
import type { ReplayedFrame } from "../sessions/replay-ring.ts";

/** What an attachment is made from. */
export interface AttachmentOptions {
  readonly hosted: HostedSession;
  readonly writer: LineWriter;
  readonly dialect: Dialect;
  /** Whether frames name their session, as in a host with many. */
  readonly namesSession: boolean;
  readonly drain: () => Promise<Result<"drain">>;
  readonly isDraining: () => boolean;
  readonly onAnswered: (frame: CommandFrame) => void;
  readonly onInternalError: (error: unknown) => void;
  /** The session is closed. */
  readonly onClosed: () => void;
}

/** One client's way to one session: its commands, and while it listens, the frames of the session. */
export class Attachment implements SessionListener {
  readonly hosted: HostedSession;
  readonly connection: Connection;
  readonly requests: ClientRequests;
  /** How commands of the client are dispatched. */
  readonly dispatching: DispatchOptions;
  readonly #options: AttachmentOptions;
  readonly #tag: SessionTag;
  #stop: (() => void) | undefined;
  #isReplaying = false;

  constructor(options: AttachmentOptions) {
    const { hosted, writer, namesSession } = options;
    this.#options = options;
    this.hosted = hosted;
    this.#tag = namesSession ? { sessionId: hosted.sessionId } : {};
    this.connection = new Connection(
      this.#replayable(writer),
      options.dialect,
      hosted.nextOrder,
      namesSession ? this.#tag : undefined,
    );
    this.connection.isSettled = !hosted.session.isBusy;
    this.requests = new ClientRequests(this.connection, hosted.session.requests);
    this.dispatching = {
      host: {
        session: hosted.session,
        connection: this.connection,
        requests: this.requests,
        drain: options.drain,
      },
      waiting: hosted.waiting,
      onUiResponse: (response) => this.#answer(() => this.requests.answerDialog(response)),
      onHostAnswer: (answer) => this.#answer(() => this.requests.answer(answer)),
      onAnswered: (frame) => this.#answered(frame),
      onInternalError: options.onInternalError,
      isDraining: options.isDraining,
    };
  }

  get isListening(): boolean {
    return this.#stop !== undefined;
  }

  /** Sends the client the session's frames from now on. */
  listen(): void {
    this.#stop ??= this.hosted.listen(this);
    this.hosted.requests.add(this.requests);
  }

  /** Sends no more frames. */
  leave(): void {
    if (this.#stop === undefined) return;
    this.connection.flush();
    this.#stop();
    this.#stop = undefined;
    this.hosted.requests.remove(this.requests);
  }

  /** Where the session is. */
  snapshot(): Result<"attach"> {
    const { session, message, streamId, seq } = this.hosted;
    return {
      state: session.state,
      pendingRequests: [...session.requests.pending],
      ...(message === undefined ? {} : { message }),
      streamId,
      seq,
    };
  }

  /** Sends what the client has missed, then `live`; then frames as they come. */
  follow({ streamId, after }: Pick<Params<"attach">, "streamId" | "after">): void {
    const { connection, hosted } = this;
    this.listen();
    this.#isReplaying = true;
    if (after !== undefined) {
      const missed = hosted.resume(streamId, after);
      if ("reason" in missed) {
        const { reason } = missed;
        connection.sendHosting({ type: "resync", ...this.#tag, reason, ...this.snapshot() });
      } else {
        for (const frame of missed.frames) this.#replay(frame);
      }
    }
    connection.sendHosting({ type: "live", ...this.#tag, seq: hosted.seq });
    this.#isReplaying = false;
  }

  /** Sends the diagnostics that the session had before the client came. */
  diagnose(): void {
    for (const diagnostic of this.hosted.session.diagnostics) {
      void this.connection.send(eventOf(diagnostic), this.hosted.nextOrder());
    }
  }

  hear(event: SessionEvent, order: EventOrder): void | Promise<void> {
    if (event.type === "diagnostic" && !this.connection.isInitialized) return;
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

  #replay({ kind, frame, order }: ReplayedFrame): void {
    if (kind === "event") void this.hear(frame, order);
    else if (kind === "notice") this.connection.ask(frame, order);
    else if (this.requests.hearsEnds) this.connection.sendRequest(frame, order);
  }

  #answer(take: () => void): void {
    this.hosted.requests.answeredBy(this.requests, take);
  }

  #answered(frame: CommandFrame): void {
    if (frame.name === "set_host_tools" && this.requests.runsTools) {
      this.hosted.requests.run(this.requests);
    }
    this.#options.onAnswered(frame);
  }

  /** What a client has asked for again does not count as unread events. */
  #replayable(writer: LineWriter): LineWriter {
    return {
      get isDrained() {
        return writer.isDrained;
      },
      onDrain: (listener) => writer.onDrain(listener),
      whenDrained: () => writer.whenDrained(),
      write: (line, isAnswer = false) => writer.write(line, isAnswer || this.#isReplaying),
    };
  }
}
