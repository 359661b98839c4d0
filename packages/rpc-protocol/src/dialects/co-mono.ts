import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import {
  type DialectFrame,
  type DialectRules,
  documented,
  documentedResponse,
  type FrameContext,
} from "./dialect.ts";

/** The commands of its document. They have no responses: their effects show in the events. */
const unanswered: ReadonlySet<string> = new Set(["prompt", "abort", "compact"]);

/** The oldest form: only events, `error` for failures, and one `compaction` event for both kinds. */
export const coMono: DialectRules = { encode };

function encode(whole: HostFrame, context: FrameContext): readonly DialectFrame[] {
  // The code of a response decides how it is encoded, and is removed afterwards.
  if (whole.type === "response") return response(whole, context);
  const frame = documented(whole, context);
  switch (frame.type) {
    case "agent_start":
    case "agent_end":
    case "turn_start":
    case "turn_end":
    case "message_start":
    case "message_end":
    case "tool_execution_start":
      return [frame];
    case "message_update":
      return [context.isInitialized ? frame : withBareStart(frame)];
    case "tool_execution_end":
      return [toolEnd(frame)];
    case "auto_compaction_end":
      return compaction(frame, { auto: true });
    case "compaction_end":
      return compaction(frame, {});
    case "error":
      return [failure(frame.error)];
    default:
      return [];
  }
}

/** A client that sends a command unknown to the document needs its answer. */
function response(frame: ResponseFrame, context: FrameContext): readonly DialectFrame[] {
  const { command, success, code, error = "" } = frame;
  const isUnread = code === "parse" || code === "unknown_command";
  if (!unanswered.has(command) && !isUnread) return [documentedResponse(frame, context)];
  return success ? [] : [failure(error)];
}

/** The document shows the start of a tool call without `id` and `toolName`; clients find them in its `partial`. */
function withBareStart(frame: Extract<SessionEvent, { type: "message_update" }>): DialectFrame {
  if (frame.assistantMessageEvent.type !== "toolcall_start") return frame;
  const { id: _id, toolName: _name, ...shown } = frame.assistantMessageEvent;
  return { ...frame, assistantMessageEvent: shown } as DialectFrame;
}

function failure(error: string): DialectFrame {
  return { type: "error", error } as DialectFrame;
}

function compaction(
  { result, errorMessage }: Extract<SessionEvent, { type: `${string}compaction_end` }>,
  kind: { auto?: true },
): readonly DialectFrame[] {
  if (result !== null) {
    const { summary, tokensBefore } = result;
    return [{ type: "compaction", summary, tokensBefore, ...kind } as DialectFrame];
  }
  // The failure of a requested compaction is already reported as the failure of its command.
  return kind.auto && errorMessage !== undefined ? [failure(errorMessage)] : [];
}

/** The result of a failed call is its text. */
function toolEnd(frame: Extract<SessionEvent, { type: "tool_execution_end" }>): DialectFrame {
  if (!frame.isError) return frame;
  const texts = frame.result.content.map((block) => (block.type === "text" ? block.text : ""));
  return { ...frame, result: texts.join("\n") } as DialectFrame;
}
