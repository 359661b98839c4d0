import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";

/**
 * Marks the places up to which an Anthropic model behind this format caches: the system prompt, the
 * last tool, and the last text of the conversation.
 */
export function markCache(request: ChatCompletionCreateParamsStreaming, isLong: boolean): void {
  const cache_control = { type: "ephemeral", ...(isLong ? { ttl: "1h" } : {}) };
  const first = request.messages[0];
  if (first?.role === "system" || first?.role === "developer") markText(first, cache_control);
  const tool = request.tools?.at(-1);
  if (tool !== undefined) Object.assign(tool, { cache_control });
  for (let at = request.messages.length - 1; at > 0; at--) {
    const message = request.messages[at];
    const canCarry = message?.role === "user" || message?.role === "assistant";
    if (canCarry && markText(message, cache_control)) return;
  }
}

/** Marks the last text of a message; false when it has none. */
function markText(message: { content?: unknown }, cache_control: object): boolean {
  if (typeof message.content === "string" && message.content !== "") {
    message.content = [{ type: "text", text: message.content, cache_control }];
    return true;
  }
  if (!Array.isArray(message.content)) return false;
  const parts: readonly ChatCompletionContentPart[] = message.content;
  const text = parts.findLast((part) => part.type === "text");
  if (text === undefined) return false;
  Object.assign(text, { cache_control });
  return true;
}
