import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";

/**
 * Marks the places up to which an Anthropic model behind this format caches: the system prompt, the
 * last tool, and the last text of the conversation.
 */
export function markCache(request: ChatCompletionCreateParamsStreaming, isLong: boolean): void {
  const cache_control = { type: "ephemeral", ...(isLong ? { ttl: "1h" } : {}) };
  const { messages } = request;
  const mark = (at: number): boolean => {
    const message = messages[at];
    const marked = message && markText(message, cache_control);
    // A copy in its place: the message itself is kept for the next turn, where another is the last.
    if (marked !== undefined) messages[at] = marked;
    return marked !== undefined;
  };
  if (messages[0]?.role === "system" || messages[0]?.role === "developer") mark(0);
  const tool = request.tools?.pop();
  if (tool !== undefined) request.tools?.push({ ...tool, ...{ cache_control } });
  for (let at = messages.length - 1; at > 0; at--) {
    const role = messages[at]?.role;
    if ((role === "user" || role === "assistant") && mark(at)) return;
  }
}

/** The message with the last of its texts marked; undefined when it has none. */
function markText(
  message: ChatCompletionMessageParam,
  cache_control: object,
): ChatCompletionMessageParam | undefined {
  const { content } = message;
  if (typeof content === "string" && content !== "") {
    const parts = [{ type: "text", text: content, cache_control }];
    return { ...message, content: parts } as ChatCompletionMessageParam;
  }
  if (!Array.isArray(content)) return undefined;
  const at = content.findLastIndex((part) => part.type === "text");
  if (at < 0) return undefined;
  const parts = content.map((part, index) => (index === at ? { ...part, cache_control } : part));
  return { ...message, content: parts } as ChatCompletionMessageParam;
}
