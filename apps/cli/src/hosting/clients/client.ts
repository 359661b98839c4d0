import {
  type ClientFrame,
  type CommandFrame,
  type ErrorCode,
  errorText,
  FrameDecoder,
  type FrameError,
  type Params,
  ProtocolError,
} from "@tau-agent/rpc-protocol";
import type { AnsweredMethods } from "../../rpc/connection/client-requests.ts";
import { Connection } from "../../rpc/connection/connection.ts";
import { RunningCommands } from "../../rpc/connection/running-commands.ts";
import { answerError, answerWith, describeError, dispatch } from "../../rpc/dispatch.ts";
import { codeWhileDraining, refuseWhileDraining } from "../../rpc/drain.ts";
import { hostInfo, initialize } from "../../rpc/handlers/connection.ts";
import type { HostedSession } from "../sessions/hosted-session.ts";
import { Attachment } from "./attachment.ts";
import type { ClientOptions } from "./client-options.ts";
import { IsolatedLines } from "./isolated-lines.ts";

type Done = void | Promise<void>;

/** One connection of a client: takes its lines, and routes commands to the sessions they name. */
export class Client {
  readonly #options: ClientOptions;
  /** Answers about the host, and what the client asked for. */
  readonly #control: Connection;
  readonly #attachments = new Map<string, Attachment>();
  readonly #isolated: IsolatedLines;
  readonly #running = new RunningCommands();
  readonly #frames: FrameDecoder;
  #answered: AnsweredMethods | undefined;
  /** Whether files are recorded for `rewind`, if the client has said so. */
  #recordsFiles: boolean | undefined;
  #isClosed = false;
  #hasAnswered = false;

  constructor(options: ClientOptions) {
    const { pool, writer, dialect } = options;
    this.#options = options;
    this.#isolated = new IsolatedLines(options);
    const noOrder = () => ({ seq: 0 });
    this.#control = new Connection(writer, dialect, noOrder, pool.solo ? undefined : {});
    this.#control.isInitialized = options.isOneShot ?? false;
    this.#frames = new FrameDecoder((frame) => this.#take(frame));
    if (options.isOneShot) return;
    this.#control.greet();
    if (pool.solo !== undefined) this.#attachmentTo(pool.solo).listen();
  }

  /** Takes a line. */
  push(line: string): void {
    if (this.#isClosed || this.#isolated.push(line)) return;
    this.#frames.push(line);
  }

  /** Refuses a line that was too long to read. */
  refuseOversized(bytes: number): void {
    const reason = `the line has ${bytes} bytes, more than the limit`;
    const error = errorText("parse", { reason });
    answerError(this.#control, { id: undefined, command: "parse", code: "parse", error });
  }

  /** Whether a command still has to be answered. */
  get owesAnswers(): boolean {
    return !(this.#running.isEmpty && this.#frames.isIdle);
  }

  /** Fulfilled once every command has begun. */
  accepted(): Promise<void> {
    return this.#frames.idle();
  }

  /** Fulfilled once every command is answered. */
  async settled(): Promise<void> {
    await this.#frames.idle();
    await this.#running.settled();
    await this.#isolated.settled();
  }

  /** Fulfilled once every command is answered, or a second has gone by. */
  nearlySettled(): Promise<void> {
    return this.#running.nearlySettled();
  }

  /** The connection is gone; its sessions go on. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const attachment of this.#attachments.values()) attachment.leave();
    this.#attachments.clear();
    this.#isolated.close();
  }

  #take(frame: ClientFrame | FrameError): void {
    const done = this.#route(frame);
    if (done === undefined) return;
    if (frame.kind === "command" && frame.name === "initialize") this.#frames.hold(done);
    this.#running.add(done);
  }

  #route(frame: ClientFrame | FrameError): Done {
    const { solo } = this.#options.pool;
    if (solo !== undefined) return this.#routeToSolo(frame, solo);
    const { sessionId } = frame;
    if (sessionId !== undefined && typeof sessionId !== "string") {
      const reason = `expected string, got ${typeof sessionId}`;
      const command = nameOf(frame);
      return this.#refuse(frame, "invalid_params", { command, field: "sessionId", reason });
    }
    if (frame.kind === "error") return answerError(this.#speakingOf(sessionId), frame);
    if (frame.kind === "command" && (sessionId === undefined || frame.name === "initialize")) {
      const handled = this.#routeToHost(frame);
      if (handled !== false) return handled;
    }
    if (sessionId === undefined) {
      return this.#refuse(frame, "missing_session_id", { command: nameOf(frame) });
    }
    const hosted = this.#options.pool.get(sessionId);
    if (this.#options.pool.isolated(sessionId)?.isClosing) {
      return this.#refuse(frame, "session_closing", { sessionId });
    }
    if (hosted === undefined) return this.#refuse(frame, "unknown_session", { sessionId });
    if (hosted.isClosing) return this.#refuse(frame, "session_closing", { sessionId });
    return this.#routeToSession(frame, hosted);
  }

  #routeToSolo(frame: ClientFrame | FrameError, solo: HostedSession): Done {
    const attachment = this.#attachmentTo(solo);
    if (frame.kind === "command") {
      const { name } = frame;
      if (name === "attach" || name === "detach") {
        return this.#reply(frame, attachment.connection, () => {
          this.#refuseOther(solo, frame.params.sessionId);
          if (name === "attach") return this.#attach(frame, attachment);
          attachment.leave();
        });
      }
    }
    return this.#dispatch(frame, attachment);
  }

  /** Commands about the host itself; false for those of a session. */
  #routeToHost(frame: CommandFrame): Done | false {
    const { pool } = this.#options;
    const control = this.#control;
    switch (frame.name) {
      case "initialize":
        return this.#reply(
          frame,
          control,
          () => this.#initialize(frame.params),
          () => {
            for (const { hosted, requests, isListening } of this.#attachments.values()) {
              if (isListening) hosted.requests.repeatTo(requests);
            }
          },
        );
      case "get_capabilities":
        return this.#reply(frame, control, async () => ({
          ...hostInfo(control),
          sandbox: await this.#options.describeSandbox(),
        }));
      case "set_event_filter":
        return this.#reply(frame, control, () => {
          const { events = null } = frame.params;
          control.setEventFilter(events ?? undefined);
          for (const attachment of this.#attachments.values())
            attachment.connection.speakAs(control);
          return { events };
        });
      case "list_sessions":
        return this.#reply(frame, control, async () => ({
          sessions: await pool.current(),
        }));
      case "open_session":
        return this.#reply(frame, control, () => this.#open(frame));
      case "drain":
        return this.#reply(frame, control, () => pool.drain());
      default:
        return false;
    }
  }

  #routeToSession(
    frame: Exclude<ClientFrame | FrameError, FrameError>,
    hosted: HostedSession,
  ): Done {
    const attachment = this.#attachmentTo(hosted);
    hosted.touch();
    if (frame.kind === "command") {
      const { connection } = attachment;
      switch (frame.name) {
        case "attach":
          return this.#reply(frame, connection, () => this.#attach(frame, attachment));
        case "detach":
          return this.#reply(frame, connection, () => attachment.leave());
        case "close_session":
          return this.#reply(frame, connection, () => this.#close(hosted, attachment));
        case "open_session":
          return this.#reply(frame, this.#control, () => this.#open(frame));
        case "switch_session": {
          const { sessionPath } = frame.params;
          return this.#dispatch(frame, attachment, () =>
            this.#options.pool.refusePathInUse(sessionPath, hosted),
          );
        }
        default:
      }
    }
    return this.#dispatch(frame, attachment);
  }

  /** `check` throws for a command that must not be run. */
  #dispatch(frame: ClientFrame | FrameError, attachment: Attachment, check?: () => void): Done {
    if (check !== undefined && frame.kind === "command") {
      try {
        check();
      } catch (error) {
        return this.#fail(frame, attachment.connection, error);
      }
    }
    const { hosted, dispatching } = attachment;
    const done = dispatch(frame, dispatching);
    if (done === undefined) return;
    hosted.running.add(done);
    return done.finally(() => {
      hosted.running.delete(done);
      hosted.touch();
    });
  }

  /** Answers a command with what `run` returns; `answered` if it has answered itself. */
  #reply(
    frame: CommandFrame,
    connection: Connection,
    run: () => unknown,
    onAnswered?: () => void,
  ): Done {
    const succeed = (data: unknown): void => {
      if (data !== answered) answerWith(connection, frame, data);
      onAnswered?.();
    };
    const fail = (error: unknown) => this.#fail(frame, connection, error);
    try {
      const data = run();
      if (!(data instanceof Promise)) return succeed(data);
      return data.then(succeed).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #fail({ id, name }: CommandFrame, connection: Connection, error: unknown): void {
    const { code, text } = describeError(error, this.#options.onInternalError);
    answerError(connection, { id, command: name, code, error: text });
  }

  #refuse(frame: ClientFrame | FrameError, found: ErrorCode, values: Record<string, string>): void {
    const code = codeWhileDraining(this.#options.pool.isDraining, found);
    const id =
      frame.kind === "host_answer"
        ? frame.answer.id
        : frame.kind === "extension_ui_response"
          ? frame.response.id
          : frame.id;
    const error = errorText(code, values);
    answerError(this.#speakingOf(frame.sessionId), { id, command: nameOf(frame), code, error });
  }

  #refuseOther(solo: HostedSession, sessionId: string | undefined): void {
    if (sessionId === undefined || this.#options.pool.get(sessionId) === solo) return;
    throw new ProtocolError("unknown_session", { sessionId });
  }

  #initialize(asked: Params<"initialize">): unknown {
    this.#isolated.initialize(asked);
    const client = this;
    const requests = {
      get answered() {
        return client.#answered;
      },
      set answered(answered: AnsweredMethods | undefined) {
        client.#answered = answered;
      },
    };
    this.#recordsFiles = asked.rewind ?? this.#recordsFiles;
    const info = initialize({ connection: this.#control, requests }, asked);
    return info instanceof Promise ? info.then((data) => this.#adopt(data)) : this.#adopt(info);
  }

  #adopt<Info>(info: Info): Info {
    for (const { connection, requests, hosted } of this.#attachments.values()) {
      connection.speakAs(this.#control);
      requests.answered = this.#answered;
      if (this.#recordsFiles !== undefined)
        hosted.session.checkpoints.isEnabled = this.#recordsFiles;
    }
    return info;
  }

  /** Answers itself: nothing comes between the answer and what has happened since. */
  async #open(frame: Extract<CommandFrame, { name: "open_session" }>): Promise<typeof answered> {
    const { pool, isOneShot = false } = this.#options;
    refuseWhileDraining(pool.isDraining, frame);
    if (pool.isIsolating) {
      await this.#isolated.open(frame.params, (opened) => answerWith(this.#control, frame, opened));
      return answered;
    }
    const hosted = await pool.open(frame.params);
    if (this.#recordsFiles !== undefined) hosted.session.checkpoints.isEnabled = this.#recordsFiles;
    const attachment = this.#attachmentTo(hosted);
    const { sessionId, streamId, seq } = hosted;
    const { state } = hosted.session;
    answerWith(this.#control, frame, { sessionId, state, streamId, seq });
    if (!isOneShot && !this.#isClosed) attachment.listen();
    hosted.diagnose();
    pool.ready(hosted);
    return answered;
  }

  #attach(
    frame: Extract<CommandFrame, { name: "attach" }>,
    attachment: Attachment,
  ): typeof answered {
    const { connection } = attachment;
    connection.flush();
    connection.showsOrder = true;
    answerWith(connection, frame, attachment.snapshot());
    if (!this.#options.isOneShot) attachment.follow(frame.params);
    return answered;
  }

  async #close(hosted: HostedSession, attachment: Attachment): Promise<void> {
    await this.#options.pool.close(hosted, "closed", attachment);
    attachment.connection.flush();
    this.#attachments.delete(hosted.sessionId);
  }

  #attachmentTo(hosted: HostedSession): Attachment {
    const known = this.#attachments.get(hosted.sessionId);
    if (known !== undefined) return known;
    const { pool, writer, onInternalError } = this.#options;
    const attachment = new Attachment({
      hosted,
      writer,
      dialect: this.#control.dialect,
      namesSession: pool.solo === undefined,
      drain: () => pool.drain(),
      isDraining: () => pool.isDraining,
      onAnswered: (frame) => this.#onAnswered(frame, attachment),
      onInternalError,
      onClosed: () => this.#attachments.delete(hosted.sessionId),
    });
    attachment.connection.speakAs(this.#control);
    attachment.requests.answered = this.#answered;
    if (!this.#isClosed) this.#attachments.set(hosted.sessionId, attachment);
    return attachment;
  }

  /** A client of a host with one session is asked what is open once it has said how. */
  #onAnswered({ name }: CommandFrame, attachment: Attachment): void {
    const { pool } = this.#options;
    const isFirst = !this.#hasAnswered;
    this.#hasAnswered = true;
    pool.onAnswered();
    if (pool.solo === undefined || !attachment.isListening) return;
    if (isFirst || name === "initialize") pool.solo.requests.repeatTo(attachment.requests);
    if (name === "initialize") attachment.diagnose();
  }

  /** Answers that name a session. */
  #speakingOf(sessionId: unknown): Connection {
    if (typeof sessionId !== "string") return this.#control;
    const noOrder = () => ({ seq: 0 });
    const { writer } = this.#options;
    const connection = new Connection(writer, this.#control.dialect, noOrder, { sessionId });
    connection.speakAs(this.#control);
    return connection;
  }
}

/** What `run` of a reply returns when it has answered. */
const answered = Symbol("answered");

function nameOf(frame: ClientFrame | FrameError): string {
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
