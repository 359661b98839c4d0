import {
  type ClientFrame,
  type ErrorCode,
  encodeLine,
  errorText,
  FrameDecoder,
  type FrameError,
  type Params,
  ProtocolError,
  type Result,
  type WorkspaceAnswer,
} from "@tau-agent/rpc-protocol";
import type { AnsweredMethods } from "../../rpc/connection/client-requests.ts";
import { Connection, type SessionTag } from "../../rpc/connection/connection.ts";
import { RunningCommands } from "../../rpc/connection/running-commands.ts";
import {
  answerError,
  type DispatchOptions,
  dispatch,
  type RunOptions,
  runCommand,
} from "../../rpc/dispatch.ts";
import type { AfterAnswer, CommandClient } from "../../rpc/handlers/contexts.ts";
import { ClientPlace, type WorkspaceServingClient } from "../sessions/client-place.ts";
import type { HostedSession } from "../sessions/hosted-session.ts";
import { Attachment } from "./attachment.ts";
import type { ClientOptions } from "./client-options.ts";
import type { IsolatedLines } from "./isolated-lines.ts";

type Done = void | Promise<void>;

type RoutedFrame = Exclude<ClientFrame, WorkspaceAnswer> | FrameError;

interface Attached {
  readonly attachment: Attachment;
  readonly dispatching: DispatchOptions;
}

/** One connection of a client: takes its lines, and routes commands to the sessions they name. */
export class Client implements CommandClient, WorkspaceServingClient {
  /** The connection for answers about the host; it holds the client's settings. */
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #attached = new Map<string, Attached>();
  readonly #isolated: IsolatedLines | undefined;
  readonly #running = new RunningCommands();
  readonly #frames: FrameDecoder;
  /** The places whose workspace this client may serve. */
  readonly #places = new Set<ClientPlace>();
  #servesWorkspaces = false;
  #answered: AnsweredMethods | undefined;
  /** Whether files are recorded for `rewind`, if the client has set it. */
  #recordsFiles: boolean | undefined;
  /** The settings that were last applied to the sessions. */
  #settings = "";
  #isClosed = false;

  constructor(options: ClientOptions) {
    const { pool, isOneShot = false } = options;
    this.#options = options;
    this.#isolated = options.isolatedLines?.(options);
    this.#frames = new FrameDecoder((frame) => this.#take(frame));
    const { solo } = pool;
    const only = solo && this.#attachTo(solo).attachment;
    this.connection = only?.connection ?? answersOnly(options, {});
    this.connection.isInitialized = isOneShot;
    if (isOneShot) return;
    this.connection.greet();
    if (only === undefined) return;
    only.listen();
    only.missesRequests = only.hosted.session.requests.size > 0;
  }

  push(line: string): void {
    if (this.#isClosed || this.#isolated?.push(line)) return;
    this.#frames.push(line);
  }

  refuseOversized(bytes: number): void {
    const reason = `the line has ${bytes} bytes, more than the limit`;
    const error = errorText("parse", { reason });
    answerError(this.connection, { id: undefined, command: "parse", code: "parse", error });
  }

  get owesAnswers(): boolean {
    return !(this.#running.isEmpty && this.#frames.isIdle);
  }

  /** Resolves once every command has begun. */
  accepted(): Promise<void> {
    return this.#frames.idle();
  }

  async settled(): Promise<void> {
    await this.#frames.idle();
    await this.#running.settled();
    await this.#isolated?.settled();
  }

  /** Resolves once every command is answered, or after one second. */
  nearlySettled(): Promise<void> {
    return this.#running.nearlySettled();
  }

  /** The connection is closed; its sessions continue. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { attachment } of this.#attached.values()) attachment.leave();
    this.#attached.clear();
    for (const place of this.#places) place.leave(this);
    this.#places.clear();
    this.#isolated?.close();
  }

  initialize(asked: Params<"initialize">): boolean {
    const { capabilities, rewind } = asked;
    if (capabilities !== undefined) {
      this.#answered = capabilities.hostRequests || undefined;
      this.#servesWorkspaces = capabilities.workspace ?? false;
    }
    this.#recordsFiles = rewind ?? this.#recordsFiles;
    this.#isolated?.initialize(asked);
    // Another client may have changed what is recorded since.
    if (!this.#hasNewSettings() && rewind === undefined) return false;
    for (const { attachment } of this.#attached.values()) {
      this.#adapt(attachment);
      this.#recordFiles(attachment.hosted);
      if (attachment.isListening) this.serve(attachment.hosted.place);
    }
    return true;
  }

  /** Serves the workspace of a session, if this client can and no other client does. */
  serve(place: ClientPlace | undefined): void {
    for (const known of this.#places) if (known.isEnded) this.#places.delete(known);
    if (place === undefined || !this.#servesWorkspaces || this.#isClosed) return;
    this.#places.add(place);
    place.serve(this);
  }

  sendWorkspace(frame: Parameters<WorkspaceServingClient["sendWorkspace"]>[0]): Done {
    return this.#options.writer.write(encodeLine(frame), true);
  }

  catchUp(): void {
    for (const { attachment } of this.#attached.values()) attachment.catchUp();
  }

  setEventFilter(connection: Connection, events: readonly string[] | undefined): void {
    connection.setEventFilter(events);
    if (connection !== this.connection || !this.#hasNewSettings()) return;
    for (const { attachment } of this.#attached.values()) this.#adapt(attachment);
  }

  async openSession(
    params: Params<"open_session">,
    afterAnswer: AfterAnswer,
  ): Promise<Result<"open_session">> {
    const { pool, isOneShot = false } = this.#options;
    this.#refuseIfSolo("open_session");
    if (this.#isolated !== undefined) return this.#isolated.open(params, afterAnswer);
    const place = new ClientPlace();
    if (!isOneShot) this.serve(place);
    const hosted = await pool.open(params, place);
    this.#recordFiles(hosted);
    const { attachment } = this.#attachedTo(hosted);
    hosted.requests.openedBy(isOneShot ? undefined : attachment.requests);
    afterAnswer(() => {
      if (!isOneShot && !this.#isClosed) attachment.listen();
      hosted.diagnose();
      hosted.begin();
      hosted.ready();
    });
    const { sessionId, streamId, seq, session } = hosted;
    return { sessionId, state: session.state, streamId, seq };
  }

  async closeSession(attachment: Attachment): Promise<void> {
    this.#refuseIfSolo("close_session");
    const { hosted } = attachment;
    await this.#options.pool.close(hosted, "closed", attachment);
    attachment.connection.flush();
    this.#attached.delete(hosted.sessionId);
  }

  #take(frame: ClientFrame | FrameError): void {
    const { before, isEnding, onCommand } = this.#options;
    if (frame.kind === "workspace_answer") {
      this.#takeAnswer(frame);
      return;
    }
    if (isEnding?.()) return;
    const wait = frame.kind === "command" ? before?.(frame) : undefined;
    if (wait !== undefined) this.#frames.hold(wait);
    const done = wait === undefined ? this.#route(frame) : wait.then(() => this.#route(frame));
    if (frame.kind === "command") onCommand?.(frame.name, done ?? undefined);
    if (done === undefined) return;
    // A dialect change must take effect before the next line.
    if (frame.kind === "command" && frame.name === "initialize") this.#frames.hold(done);
    this.#running.add(done);
  }

  /** Ignores answers to unknown calls: they belong to cancelled calls. */
  #takeAnswer({ answer }: WorkspaceAnswer): void {
    for (const place of this.#places) {
      const wait = place.take(this, answer);
      if (wait !== undefined) this.#frames.hold(wait);
    }
  }

  #route(frame: RoutedFrame): Done {
    const { pool } = this.#options;
    if (pool.solo !== undefined) return this.#dispatch(frame, pool.solo);
    const { sessionId } = frame;
    if (sessionId === undefined) return this.#routeToHost(frame, this.connection);
    if (typeof sessionId !== "string") {
      const reason = `expected string, got ${typeof sessionId}`;
      const command = nameOf(frame);
      return this.#refuse(frame, "invalid_params", { command, field: "sessionId", reason });
    }
    if (frame.kind === "error") return answerError(this.#untied({ sessionId }), frame);
    const hosted = pool.get(sessionId);
    const session = hosted ?? pool.isolated(sessionId);
    if (session === undefined) return this.#refuse(frame, "unknown_session", { sessionId });
    if (session.isClosing) return this.#refuse(frame, "session_closing", { sessionId });
    if (hosted === undefined) return this.#routeToHost(frame, this.#untied({ sessionId }));
    hosted.touch();
    return this.#dispatch(frame, hosted);
  }

  /** Runs commands that need no session of this process. */
  #routeToHost(frame: RoutedFrame, connection: Connection): Done {
    if (frame.kind === "error") return answerError(connection, frame);
    if (frame.kind !== "command" || frame.scope === "session") {
      return this.#refuse(frame, "missing_session_id", { command: nameOf(frame) });
    }
    return runCommand(frame, this.#runOptions(connection));
  }

  #dispatch(frame: RoutedFrame, hosted: HostedSession): Done {
    const done = dispatch(frame, this.#attachedTo(hosted).dispatching);
    if (done === undefined) return;
    // Closing a session waits for its other commands, but not for the command that closes it.
    const isAwaited = frame.kind === "command" && frame.scope === "session" && !hosted.isClosing;
    if (isAwaited) hosted.running.add(done);
    return done.finally(() => {
      hosted.running.delete(done);
      hosted.touch();
    });
  }

  #refuse(frame: RoutedFrame, found: ErrorCode, values: Record<string, string>): void {
    // During a drain, which sessions are still open depends on timing, so the error says `draining`.
    const code = this.#options.pool.isDraining && isOfSession.test(found) ? "draining" : found;
    const id =
      frame.kind === "host_answer"
        ? frame.answer.id
        : frame.kind === "extension_ui_response"
          ? frame.response.id
          : frame.id;
    const { sessionId } = frame;
    const connection =
      typeof sessionId === "string" ? this.#untied({ sessionId }) : this.connection;
    answerError(connection, { id, command: nameOf(frame), code, error: errorText(code, values) });
  }

  #refuseIfSolo(command: string): void {
    if (this.#options.pool.solo === undefined) return;
    throw new ProtocolError("multi_session_disabled", { command });
  }

  #recordFiles({ session }: HostedSession): void {
    if (this.#recordsFiles !== undefined) session.checkpoints.isEnabled = this.#recordsFiles;
  }

  #attachedTo(hosted: HostedSession): Attached {
    const known = this.#attached.get(hosted.sessionId);
    if (known !== undefined) return known;
    const attached = this.#attachTo(hosted);
    this.#adapt(attached.attachment);
    return attached;
  }

  #attachTo(hosted: HostedSession): Attached {
    const { pool, writer, dialect, isOneShot } = this.#options;
    const attachment = new Attachment({
      hosted,
      writer,
      dialect,
      namesSession: pool.solo === undefined,
      isOneShot,
      onListen: () => this.serve(hosted.place),
      onClosed: () => this.#attached.delete(hosted.sessionId),
    });
    const { session } = hosted;
    const { connection, requests } = attachment;
    const attached = {
      attachment,
      dispatching: {
        ...this.#runOptions(connection),
        context: { host: pool, client: this, connection, session, requests, attachment },
        waiting: hosted.waiting,
        onUiResponse: (response) => attachment.answerDialog(response),
        onHostAnswer: (answer) => attachment.answerRequest(answer),
        onAnswered: () => {
          hosted.ready();
          if (attachment.missesRequests && attachment.isListening) attachment.repeatRequests();
        },
      },
    } satisfies Attached;
    if (!this.#isClosed) this.#attached.set(hosted.sessionId, attached);
    return attached;
  }

  #runOptions(connection: Connection): RunOptions {
    const { pool, onInternalError } = this.#options;
    const context = { host: pool, client: this, connection };
    return { context, onInternalError, isDraining: () => pool.isDraining };
  }

  /** Whether the client's settings differ from those that were last applied to its sessions. */
  #hasNewSettings(): boolean {
    const own = [this.#answered, this.#servesWorkspaces, this.#recordsFiles];
    const settings = this.connection.settings + JSON.stringify(own);
    const isNew = settings !== this.#settings;
    this.#settings = settings;
    return isNew;
  }

  /** Applies the settings of `initialize`. */
  #adapt({ connection, requests }: Attachment): void {
    if (connection !== this.connection) connection.speakAs(this.connection);
    requests.answered = this.#answered;
  }

  #untied(tag: SessionTag): Connection {
    const connection = answersOnly(this.#options, tag);
    connection.speakAs(this.connection);
    return connection;
  }
}

function answersOnly({ writer, dialect }: ClientOptions, tag: SessionTag): Connection {
  return new Connection(writer, dialect, () => ({ seq: 0 }), tag);
}

/** Refusals that reveal the state of a session. */
const isOfSession = /^(?:unknown_session|session_closing|missing_session_id)$/;

function nameOf(frame: RoutedFrame): string {
  switch (frame.kind) {
    case "command":
      return frame.name;
    case "error":
      return frame.command;
    case "extension_ui_response":
      return "extension_ui_response";
    case "host_answer":
      return frame.answer.type;
  }
}
