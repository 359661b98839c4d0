import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, LlmMessage } from "@tau-agent/rpc-protocol/messages";
import { finishReasons } from "./attributes.ts";

/** A part of a message in the form of the conventions. Images are named without their data. */
interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Messages as JSON, the form that the conventions define for attributes. */
export function messagesText(messages: readonly (LlmMessage | AgentMessage)[]): string {
  return JSON.stringify(messages.flatMap(messageOf));
}

function messageOf(message: LlmMessage | AgentMessage): object[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", parts: partsOf(message.content) }];
    case "assistant": {
      const reason = finishReasons[message.stopReason] ?? "error";
      return [{ role: "assistant", parts: partsOf(message.content), finish_reason: reason }];
    }
    case "toolResult": {
      const response = resultText(message);
      const part = { type: "tool_call_response", id: message.toolCallId, response };
      return [{ role: "tool", parts: [part] }];
    }
    default:
      return [];
  }
}

type Content = Extract<LlmMessage, { role: "user" | "assistant" }>["content"];

function partsOf(content: Content): Part[] {
  if (typeof content === "string") return [{ type: "text", content }];
  return content.map((block): Part => {
    switch (block.type) {
      case "text":
        return { type: "text", content: block.text };
      case "thinking":
        return { type: "reasoning", content: block.thinking };
      case "toolCall":
        return { type: "tool_call", id: block.id, name: block.name, arguments: block.arguments };
      case "image":
        return imageOf(block.mimeType);
      default:
        return { type: "unknown" };
    }
  });
}

function imageOf(mimeType: string): Part {
  return { type: "blob", modality: "image", mime_type: mimeType };
}

/** A tool's result: its text, or JSON if it contains more than text. */
export function resultText({ content }: Pick<ToolResult, "content">): string {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.length === content.length) return texts.join("\n");
  return JSON.stringify(
    content.map((block) =>
      block.type === "text" ? { type: "text", content: block.text } : imageOf(block.mimeType),
    ),
  );
}
