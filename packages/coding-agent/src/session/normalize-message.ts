import { emptyUsage } from "@tau-agent/ai";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * Makes a message from a file safe to use: other programs wrote `null` or a string where blocks
 * belong, or left usage out. A message that is right is returned as it is.
 */
export function normalizeMessage(message: AgentMessage): AgentMessage {
  switch (message.role) {
    case "user":
    case "custom":
      return hasContent(message.content) ? message : { ...message, content: "" };
    case "assistant": {
      const isRight = Array.isArray(message.content) && message.usage?.cost !== undefined;
      if (isRight) return message;
      return {
        ...message,
        content: toBlocks(message.content),
        usage: message.usage ?? emptyUsage(),
      };
    }
    case "toolResult":
      return Array.isArray(message.content)
        ? message
        : { ...message, content: toBlocks(message.content) };
    default:
      return message;
  }
}

function hasContent(content: unknown): boolean {
  return typeof content === "string" || Array.isArray(content);
}

function toBlocks(content: unknown): { type: "text"; text: string }[] {
  if (Array.isArray(content)) return content;
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}
