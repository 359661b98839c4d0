import type { HostFrame } from "../vocabulary/host-frame.ts";
import type { AssistantMessageEvent } from "../vocabulary/stream-event.ts";
import { type DialectFrame, type DialectRules, documented, type FrameContext } from "./dialect.ts";

/** Flat events: `type` names the event, and `data` contains everything else. */
export const piRust: DialectRules = { encode };

function encode(whole: HostFrame, context: FrameContext): readonly DialectFrame[] {
  const frame = documented(whole, context);
  switch (frame.type) {
    case "response":
      return [frame];
    case "message_update":
      return step(frame.assistantMessageEvent);
    case "tool_execution_start":
      return [flat(frame, "tool_start")];
    case "tool_execution_update":
      return [flat(frame, "tool_update")];
    case "tool_execution_end":
      return [flat(frame, "tool_end")];
    case "agent_start":
    case "agent_end":
    case "auto_retry_start":
    case "auto_retry_end":
    case "auto_compaction_start":
    case "auto_compaction_end":
      return [flat(frame, frame.type)];
    default:
      return [];
  }
}

function step(event: AssistantMessageEvent): readonly DialectFrame[] {
  if (event.type !== "text_delta" && event.type !== "thinking_delta") return [];
  return [{ type: event.type, data: event.delta } as DialectFrame];
}

function flat({ type: _, ...data }: HostFrame, type: string): DialectFrame {
  return { type, data } as DialectFrame;
}
