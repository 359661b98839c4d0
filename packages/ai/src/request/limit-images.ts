import type { LlmMessage, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { ImageLimits } from "../provider.ts";

const placeholder = "(an earlier image left out: a request holds only so many)";

interface Size {
  readonly count: number;
  readonly bytes: number;
}

/**
 * `messages` with only the newest images that the limits allow; with one more, a vendor would refuse this and
 * every later request. Images are dropped in steps, so that not every new image invalidates the prompt cache.
 * Replaced messages are kept in `known`, so that the same message becomes the same object next time.
 */
export function limitImages(
  messages: LlmMessage[],
  limits: ImageLimits,
  known: WeakMap<LlmMessage, LlmMessage>,
): LlmMessage[] {
  const sizes = messages.map(sizeOf);
  let count = surplus(sizes, "count", limits.count);
  let bytes = surplus(sizes, "bytes", limits.bytes);
  if (count <= 0 && bytes <= 0) return messages;
  const newest = sizes.findLastIndex((size) => size.count > 0);
  return messages.map((message, index) => {
    const size = sizes[index] ?? nothing;
    if (index === newest) return withNewest(message, limits);
    if (size.count === 0 || (count <= 0 && bytes <= 0)) return message;
    // Dropped as a whole or not at all, so that a message has only one replacement.
    count -= size.count;
    bytes -= size.bytes;
    const replaced = known.get(message) ?? withNewest(message, { count: 0 });
    known.set(message, replaced);
    return replaced;
  });
}

const nothing: Size = { count: 0, bytes: 0 };

function sizeOf(message: LlmMessage): Size {
  if (message.role === "assistant" || typeof message.content === "string") return nothing;
  let count = 0;
  let bytes = 0;
  for (const block of message.content) {
    if (block.type !== "image") continue;
    count += 1;
    bytes += block.data.length;
  }
  return count === 0 ? nothing : { count, bytes };
}

/** How much must be dropped, in quarters of the limit. */
function surplus(sizes: readonly Size[], unit: keyof Size, limit = Number.POSITIVE_INFINITY) {
  const total = sizes.reduce((sum, size) => sum + size[unit], 0);
  if (total <= limit) return 0;
  const step = Math.max(1, Math.floor(limit / 4));
  return Math.ceil((total - limit) / step) * step;
}

/** The message with as many of its last images as the limits allow. */
function withNewest(message: LlmMessage, limits: ImageLimits): LlmMessage {
  if (message.role === "assistant" || typeof message.content === "string") return message;
  let { count = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = limits;
  const content = message.content
    .toReversed()
    .map((block): UserContent => {
      if (block.type !== "image") return block;
      count -= 1;
      bytes -= block.data.length;
      return count >= 0 && bytes >= 0 ? block : { type: "text", text: placeholder };
    })
    .reverse();
  return content.every((block, index) => block === message.content[index])
    ? message
    : { ...message, content };
}
