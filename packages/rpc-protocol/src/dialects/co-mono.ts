import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import {
  type DialectFrame,
  type DialectRules,
  documented,
  documentedResponse,
  type FrameContext,
} from "./dialect.ts";

/** The commands of its document. They have no responses: what they do is seen in the events. */
const unanswered: ReadonlySet<string> = new Set(["prompt", "abort", "compact"]);

/** The oldest form: events alone, `error` for what failed, one `compaction` event for both kinds. */
export const coMono: DialectRules = { encode };

function encode(whole: HostFrame, context: FrameContext): readonly DialectFrame[] {
  // A response is judged by its code, which goes last.
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

/** A client that asks what the document does not know needs its answer. */
function response(frame: ResponseFrame, context: FrameContext): readonly DialectFrame[] {
  const { command, success, code, error = "" } = frame;
  const isUnread = code === "parse" || code === "unknown_command";
  if (!unanswered.has(command) && !isUnread) return [documentedResponse(frame, context)];
  return success ? [] : [failure(error)];
}

/**
 * The document prints the start of a tool call whole, without `id` and `toolName`; clients find them
 * in its `partial`.
 */
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
  // The failure of one that was asked for is said already: as the failure of its command.
  return kind.auto && errorMessage !== undefined ? [failure(errorMessage)] : [];
}

/** The result of a call that failed is its text. */
function toolEnd(frame: Extract<SessionEvent, { type: "tool_execution_end" }>): DialectFrame {
  if (!frame.isError) return frame;
  const texts = frame.result.content.map((block) => (block.type === "text" ? block.text : ""));
  return { ...frame, result: texts.join("\n") } as DialectFrame;
}
