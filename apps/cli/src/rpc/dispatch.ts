import { SessionError } from "@tau-agent/coding-agent";
import type { ExtensionUiResponse, HostAnswer } from "@tau-agent/rpc-protocol";
import {
  type ClientFrame,
  CodedError,
  type CommandFrame,
  type ErrorCode,
  errorMessage,
  errorText,
  type FrameError,
  type Handlers,
  type RequestId,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import type { Connection } from "./connection/connection.ts";
import { refuseWhileDraining } from "./drain.ts";
import type { Host } from "./handlers/host.ts";
import { handlers } from "./handlers/index.ts";

/** The host a frame is for, and where everything goes that is not a response. */
export interface DispatchOptions {
  readonly host: Host;
  /** Commands that wait for another session. */
  readonly waiting: Set<CommandFrame>;
  readonly onUiResponse: (response: ExtensionUiResponse) => void;
  /** Takes an answer to a host request; throws if it is refused. */
  readonly onHostAnswer: (answer: HostAnswer) => void;
  /** Called once a command has been answered. */
  readonly onAnswered: (frame: CommandFrame) => void;
  readonly onInternalError: (error: unknown) => void;
  /** Whether the host is about to end and accepts no new work. */
  readonly isDraining: () => boolean;
}

/**
 * Runs the command of a frame and answers exactly once; never rejects. What can be answered at once
 * is, so that responses of such commands come in the order of the commands. While extensions decide
 * on another session, commands that are meant for it wait; questions and stops do not.
 */
export function dispatch(
  frame: ClientFrame | FrameError,
  options: DispatchOptions,
): void | Promise<void> {
  if (frame.kind === "error") return answerError(options.host.connection, frame);
  if (frame.kind === "extension_ui_response") return options.onUiResponse(frame.response);
  if (frame.kind === "host_answer") return takeAnswer(frame.answer, options);
  const { navigation, isClosed } = options.host.session;
  const change = isClosed ? undefined : navigation.underWay;
  if (change !== undefined) {
    const isWaiting = frame.awaitsSessionChange;
    if (isWaiting) options.waiting.add(frame);
    // What was sent before an abort is to be stopped by it, also when it has yet to begin; dialogs of
    // the change end at once.
    const isAbort = frame.name === "abort" && options.waiting.size > 0;
    if (isAbort) void options.host.session.abort();
    if (isWaiting || isAbort) {
      return change.then(() => {
        options.waiting.delete(frame);
        return dispatch(frame, options);
      });
    }
  }
  const fail = (error: unknown): void => {
    const { code, text } = describeError(error, options.onInternalError);
    answerError(options.host.connection, { id: frame.id, command: frame.name, code, error: text });
    options.onAnswered(frame);
  };
  const reply = (data: unknown): void | Promise<void> => {
    // What the command wrote, or shows, has to be in the session's store.
    const stored = frame.answersAtOnce ? undefined : options.host.session.stored;
    if (stored === undefined) return answer(options, frame, data);
    return stored.then(() => answer(options, frame, data));
  };
  try {
    refuseWhileDraining(options.isDraining(), frame);
    // What waited for another session finds none any more.
    if (isClosed && frame.awaitsSessionChange) throw new SessionError("disposed");
    const data = run(frame, options.host);
    if (data instanceof Promise) return data.then(reply).catch(fail);
    const replied = reply(data);
    return replied instanceof Promise ? replied.catch(fail) : replied;
  } catch (error) {
    fail(error);
  }
}

/** The table's types guarantee that params and handler fit; the union hides it. */
function run({ name, params, id }: CommandFrame, host: Host): unknown {
  const handler = handlers[name] as Handlers<Host>[typeof name] as (
    host: Host,
    params: unknown,
    request: { id: RequestId | undefined },
  ) => unknown;
  return handler(host, params, { id });
}

/** An accepted answer has no response; what came of it is reported when the request ends. */
function takeAnswer(given: HostAnswer, options: DispatchOptions): void {
  try {
    options.onHostAnswer(given);
  } catch (error) {
    const { code, text } = describeError(error, options.onInternalError);
    answerError(options.host.connection, { id: given.id, command: given.type, code, error: text });
  }
}

function answer({ host, onAnswered }: DispatchOptions, frame: CommandFrame, data: unknown): void {
  answerWith(host.connection, frame, data);
  onAnswered(frame);
}

/** Answers a command that has succeeded. */
export function answerWith(
  connection: Pick<Connection, "respond">,
  { id, name, data: policy }: CommandFrame,
  data: unknown,
): void {
  const response: ResponseFrame = {
    ...(id === undefined ? {} : { id }),
    type: "response",
    command: name,
    success: true,
    ...(policy !== "none" && data !== undefined ? { data } : {}),
  };
  connection.respond(response, policy === "initialized");
}

/** Answers with an error. */
export function answerError(
  connection: Pick<Connection, "respond">,
  { id, command, code, error }: Pick<FrameError, "id" | "command" | "code" | "error">,
): void {
  connection.respond({
    ...(id === undefined ? {} : { id }),
    type: "response",
    command,
    success: false,
    error,
    code,
  });
}

/** Code and text of anything thrown. */
export function describeError(
  error: unknown,
  onInternalError: (error: unknown) => void,
): { code: ErrorCode; text: string } {
  if (error instanceof CodedError) {
    return { code: error.code, text: error.message };
  }
  onInternalError(error);
  const reason = errorMessage(error);
  return { code: "internal", text: errorText("internal", { reason }) };
}
