import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { type MarkRules, markedPlaces } from "../request/cache-marks.ts";

/**
 * Marks the positions up to which an Anthropic model behind this format caches: the system prompt (or the
 * last tool if there is none) and the conversation.
 */
export function markCache(request: ChatCompletionCreateParamsStreaming, isLong: boolean): void {
  const cache_control = { type: "ephemeral", ...(isLong ? { ttl: "1h" } : {}) };
  const { messages } = request;
  const mark = (at: number): boolean => {
    const message = messages[at];
    const marked = message && markText(message, cache_control);
    // Replaces the message with a copy, because the next turn reuses the message without a mark.
    if (marked !== undefined) messages[at] = marked;
    return marked !== undefined;
  };
  for (const { message } of markedPlaces(messages, markRules)) mark(message);
  const hasSystem = messages[0] !== undefined && isSystem(messages[0]) && mark(0);
  const tool = hasSystem ? undefined : request.tools?.pop();
  if (tool !== undefined) request.tools?.push({ ...tool, ...{ cache_control } });
}

/** Only text can be marked; the last text of a message is. */
const markRules: MarkRules<ChatCompletionMessageParam> = {
  isRead: (message) => (isSystem(message) ? undefined : message.role !== "assistant"),
  marks: (message) => {
    const { content } = message;
    const parts = Array.isArray(content) ? content : content ? [{ type: "text" }] : [];
    const last = isSystem(message) ? -1 : parts.findLastIndex(({ type }) => type === "text");
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    return [...parts.map((_, index) => index === last), ...calls.map(() => false)];
  },
};

function isSystem({ role }: ChatCompletionMessageParam): boolean {
  return role === "system" || role === "developer";
}

/** The message with its last text marked; undefined if it has no text. */
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
