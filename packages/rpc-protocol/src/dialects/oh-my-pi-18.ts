import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import { type DialectFrame, type DialectRules, documented, type FrameContext } from "./dialect.ts";
import { asDialog, dialogMethods, resultOfDialog } from "./request-dialogs.ts";

/** A `ready` frame with the version 1 alone: no frame is cut into chunks. */
const ready = { type: "ready", protocolVersion: 1, supportedProtocolVersions: [1] };

/**
 * What the published client of oh-my-pi 18 needs besides the default: it waits for `ready` at the
 * start, for `prompt_result` with `agentInvoked` after a prompt, and for `session_settled`.
 */
export const ohMyPi18: DialectRules = {
  greeting: ready,
  encode,
  requestDialogs: { methods: dialogMethods, asDialog, resultOfDialog, reportsEnd: false },
};

function encode(frame: HostFrame, context: FrameContext): readonly DialectFrame[] {
  switch (frame.type) {
    case "agent_settled":
      return [frame, { type: "session_settled" }];
    case "prompt_result":
      return [promptResult(frame, context)];
    case "response":
      return [response(frame, context)];
    default:
      return [documented(frame, context)];
  }
}

/** A prompt that a command of an extension handled counts as completed without the agent. */
function promptResult(
  {
    status,
    error,
    code: _,
    pausedBy: __,
    ...head
  }: Extract<SessionEvent, { type: "prompt_result" }>,
  { isSettled = true }: FrameContext,
): DialectFrame {
  const isHandled = status === "handled";
  const result = {
    ...head,
    agentInvoked: !isHandled,
    status: isHandled ? "completed" : status === "paused" ? "aborted" : status,
    // The host's own retries are exhausted when a prompt ends with an error.
    ...(error === undefined ? {} : { error: { message: error, retryable: false } }),
    sessionSettled: isSettled,
  };
  return result;
}

function response(frame: ResponseFrame, context: FrameContext): DialectFrame {
  const { command, success, data } = frame;
  if (!success || data === undefined) return documented(frame, context);
  switch (command) {
    case "get_state":
      return { ...frame, data: { ...data, isSettled: context.isSettled ?? true } } as DialectFrame;
    case "set_event_filter":
      return frame;
    default:
      return documented(frame, context);
  }
}
