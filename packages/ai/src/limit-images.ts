import type { LlmMessage, UserContent } from "@tau-agent/rpc-protocol/messages";

const placeholder = "(an earlier image left out: a request holds only so many)";

/**
 * `messages` with at most `limit` images, the newest ones: one more would make a vendor refuse this
 * request and every later one. They go in steps, so that not every new image changes what a prompt
 * cache holds. What was replaced is kept in `known`: an equal message is the same object next time.
 */
export function limitImages(
  messages: LlmMessage[],
  limit: number,
  known: WeakMap<LlmMessage, LlmMessage>,
): LlmMessage[] {
  const counts = messages.map(imageCount);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= limit) return messages;
  const step = Math.max(1, Math.floor(limit / 4));
  let surplus = Math.min(total, Math.ceil((total - limit) / step) * step);
  const newest = counts.findLastIndex((count) => count > 0);
  return messages.map((message, index) => {
    const count = counts[index] ?? 0;
    if (index === newest) return count > limit ? withImages(message, limit) : message;
    if (count === 0 || surplus <= 0) return message;
    // As a whole or not at all, so that a message is replaced in one way only.
    surplus -= count;
    const replaced = known.get(message) ?? withImages(message, 0);
    known.set(message, replaced);
    return replaced;
  });
}

function imageCount(message: LlmMessage): number {
  if (message.role === "assistant" || typeof message.content === "string") return 0;
  return message.content.filter(({ type }) => type === "image").length;
}

/** The message with its last images, as many as that. */
function withImages(message: LlmMessage, kept: number): LlmMessage {
  if (message.role === "assistant" || typeof message.content === "string") return message;
  let surplus = imageCount(message) - kept;
  const content = message.content.map((block): UserContent => {
    if (block.type !== "image" || surplus <= 0) return block;
    surplus -= 1;
    return { type: "text", text: placeholder };
  });
  return { ...message, content };
}
