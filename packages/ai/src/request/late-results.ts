import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * Puts each tool result behind the reply that asked for it. A message that came while a tool ran, such
 * as an extension's, may lie between the two, and vendors accept nothing there.
 *
 * @returns the same array when every result is in its place
 */
export function withResultsInPlace(messages: readonly LlmMessage[]): readonly LlmMessage[] {
  return areInPlace(messages) ? messages : moved(messages);
}

/**
 * Whether each result is behind the reply with its call. Every request asks that, so it takes no look at
 * replies without results (row "100 000 entries: first request").
 */
function areInPlace(messages: readonly LlmMessage[]): boolean {
  let last: LlmMessage | undefined;
  let asked: ReadonlySet<string> | undefined;
  for (const message of messages) {
    if (message.role !== "toolResult") {
      last = message;
      asked = undefined;
      continue;
    }
    asked ??= callsOf(last);
    if (!asked.has(message.toolCallId)) return false;
  }
  return true;
}

function callsOf(message: LlmMessage | undefined): ReadonlySet<string> {
  const ids = new Set<string>();
  if (message?.role !== "assistant") return ids;
  for (const block of message.content) if (block.type === "toolCall") ids.add(block.id);
  return ids;
}

function moved(messages: readonly LlmMessage[]): readonly LlmMessage[] {
  const groups: LlmMessage[][] = [];
  /** The group each call belongs to; a later call of the same id takes its place. */
  const askedIn = new Map<string, LlmMessage[]>();
  let hasMoved = false;
  for (const message of messages) {
    if (message.role === "toolResult") {
      const last = groups.at(-1);
      const asked = askedIn.get(message.toolCallId);
      hasMoved ||= asked !== undefined && asked !== last;
      const group = asked ?? last;
      if (group === undefined) groups.push([message]);
      else group.push(message);
      continue;
    }
    const group = [message];
    groups.push(group);
    for (const id of callsOf(message)) askedIn.set(id, group);
  }
  return hasMoved ? groups.flat() : messages;
}
