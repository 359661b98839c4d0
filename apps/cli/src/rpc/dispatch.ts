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
  ProtocolError,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import type { Connection } from "./connection/connection.ts";
import type { CommandRequest, HostContext, SessionContext } from "./handlers/contexts.ts";
import { handlers } from "./handlers/index.ts";

export interface RunOptions {
  readonly context: HostContext;
  readonly onInternalError: (error: unknown) => void;
  /** Whether the host is about to end and accepts no new work. */
  readonly isDraining: () => boolean;
  readonly onAnswered?: () => void;
}

/** The session that a frame is for, and the receivers of everything that is not a response. */
export interface DispatchOptions extends RunOptions {
  readonly context: SessionContext;
  /** Commands that wait for a session change to end. */
  readonly waiting: Set<CommandFrame>;
  readonly onUiResponse: (response: ExtensionUiResponse) => void;
  /** Takes an answer to a host request; throws if it is refused. */
  readonly onHostAnswer: (answer: HostAnswer) => void;
}

/**
 * Runs the command of a frame and answers exactly once; never rejects. Answers synchronously if possible, so
 * that such responses keep the order of their commands. While extensions decide about a session change,
 * commands for the new session wait; queries and aborts do not.
 */
export function dispatch(
  frame: ClientFrame | FrameError,
  options: DispatchOptions,
): void | Promise<void> {
  const { connection, session } = options.context;
  if (frame.kind === "error") return answerError(connection, frame);
  if (frame.kind === "extension_ui_response") return options.onUiResponse(frame.response);
  // The client has already passed it to the workspace that made the call.
  if (frame.kind === "workspace_answer") return;
  if (frame.kind === "host_answer") return takeAnswer(frame.answer, options);
  const { navigation, isClosed } = session;
  const change = isClosed ? undefined : navigation.underWay;
  if (change !== undefined) {
    const isWaiting = frame.awaitsSessionChange;
    if (isWaiting) options.waiting.add(frame);
    // An abort also stops commands that were sent before it and have not begun; dialogs of the session change
    // end at once.
    const isAbort = frame.name === "abort" && options.waiting.size > 0;
    if (isAbort) void session.abort();
    if (isWaiting || isAbort) {
      return change.then(() => {
        options.waiting.delete(frame);
        return dispatch(frame, options);
      });
    }
  }
  return runCommand(frame, options);
}

/** Runs a command and answers exactly once; never rejects. */
export function runCommand(frame: CommandFrame, options: RunOptions): void | Promise<void> {
  const { connection, session } = options.context;
  const afterwards: (() => void)[] = [];
  const fail = (error: unknown): void => {
    const { code, text } = describeError(error, options.onInternalError);
    answerError(connection, { id: frame.id, command: frame.name, code, error: text });
    options.onAnswered?.();
  };
  const answer = (data: unknown): void => {
    answerWith(connection, frame, data);
    try {
      for (const run of afterwards) run();
      options.onAnswered?.();
    } catch (error) {
      // The command is already answered.
      options.onInternalError(error);
    }
  };
  const reply = (data: unknown): void | Promise<void> => {
    // Everything that the command wrote or returns must be in the session's store first.
    const stored = frame.answersAtOnce ? undefined : session?.stored;
    if (stored === undefined) return answer(data);
    return stored.then(() => answer(data));
  };
  try {
    if (frame.beginsWork && options.isDraining()) throw new ProtocolError("draining");
    // The session for which the command waited no longer exists.
    if (session?.isClosed && frame.awaitsSessionChange) throw new SessionError("disposed");
    const { id } = frame;
    const afterAnswer = (run: () => void): void => void afterwards.push(run);
    const data = handle(frame, options.context, { id, afterAnswer });
    if (data instanceof Promise) return data.then(reply).catch(fail);
    const replied = reply(data);
    return replied instanceof Promise ? replied.catch(fail) : replied;
  } catch (error) {
    fail(error);
  }
}

/** The table's types guarantee that context, params and handler match, but the union hides it. */
function handle(
  { name, params }: CommandFrame,
  context: HostContext,
  request: CommandRequest,
): unknown {
  const handler = handlers[name] as (
    context: HostContext,
    params: unknown,
    request: CommandRequest,
  ) => unknown;
  return handler(context, params, request);
}

/** An accepted answer has no response; its outcome is reported when the request ends. */
function takeAnswer(given: HostAnswer, options: DispatchOptions): void {
  try {
    options.onHostAnswer(given);
  } catch (error) {
    const { code, text } = describeError(error, options.onInternalError);
    const { connection } = options.context;
    answerError(connection, { id: given.id, command: given.type, code, error: text });
  }
}

function answerWith(
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

function describeError(
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
