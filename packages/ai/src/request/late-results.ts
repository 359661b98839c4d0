import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * Puts each tool result behind the reply that asked for it. A message that came while a tool ran, such
 * as an extension's, may lie between the two, and vendors accept nothing there.
 *
 * @returns the same array when every result is in its place
 */
export function withResultsInPlace(messages: readonly LlmMessage[]): readonly LlmMessage[] {
  const groups: LlmMessage[][] = [];
  /** The group each call belongs to; a later call of the same id takes its place. */
  const askedIn = new Map<string, LlmMessage[]>();
  let hasMoved = false;
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role === "toolResult") {
      const asked = askedIn.get(message.toolCallId);
      hasMoved ||= asked !== undefined && asked !== last;
      const group = asked ?? last;
      if (group === undefined) groups.push([message]);
      else group.push(message);
      continue;
    }
    const group = [message];
    groups.push(group);
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type === "toolCall") askedIn.set(block.id, group);
    }
  }
  return hasMoved ? groups.flat() : messages;
}
