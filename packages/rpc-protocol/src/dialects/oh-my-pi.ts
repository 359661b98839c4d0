import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { AgentMessage } from "../vocabulary/message.ts";
import { type DialectFrame, type DialectRules, documented, type FrameContext } from "./dialect.ts";

/** Sends only the events of its document; sends errors of extensions as `hook_error`, and images with a `source`. */
export const ohMyPi: DialectRules = { encode };

function encode(whole: HostFrame, context: FrameContext): readonly DialectFrame[] {
  const frame = documented(whole, context);
  switch (frame.type) {
    case "agent_start":
    case "turn_start":
    case "message_update":
    case "tool_execution_start":
    case "auto_compaction_start":
    case "auto_compaction_end":
    case "auto_retry_start":
    case "auto_retry_end":
      return [frame];
    case "response":
      return [response(frame)];
    case "agent_end":
      return [replaced(frame, { messages: frame.messages.map(withSources) })];
    case "turn_end":
      return [replaced(frame, { toolResults: frame.toolResults.map(withSources) })];
    case "message_start":
    case "message_end":
      return [replaced(frame, { message: withSources(frame.message) })];
    case "tool_execution_update":
      return [replaced(frame, { partialResult: withSources(frame.partialResult) })];
    case "tool_execution_end":
      return [replaced(frame, { result: withSources(frame.result) })];
    case "extension_error": {
      const { extensionPath: hookPath, event, error } = frame;
      return [{ type: "hook_error", hookPath, event, error } as DialectFrame];
    }
    default:
      return [];
  }
}

function replaced(frame: HostFrame, members: object): DialectFrame {
  return { ...frame, ...members };
}

function response(frame: ResponseFrame): DialectFrame {
  if (frame.command !== "get_messages" || !frame.success) return frame;
  const { messages } = frame.data as { messages: readonly AgentMessage[] };
  return replaced(frame, { data: { messages: messages.map(withSources) } });
}

/** A copy of the holder with its images in the other form; the holder itself if it has no image. */
function withSources<Holder extends object>(holder: Holder): object {
  const content = "content" in holder ? holder.content : undefined;
  if (!Array.isArray(content) || !content.some(isImage)) return holder;
  return {
    ...holder,
    content: content.map((block) => (isImage(block) ? withSource(block) : block)),
  };
}

interface Image {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}

function isImage(block: { type: string }): block is Image {
  return block.type === "image";
}

function withSource({ data, mimeType: mediaType }: Image): object {
  return { type: "image", source: { type: "base64", mediaType, data } };
}
