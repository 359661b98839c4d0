import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * Moves each tool result directly after the reply that requested it. A message that arrived while a tool ran,
 * such as an extension's, may be between the two, which vendors refuse.
 *
 * @returns the same array if every result is in place
 */
export function withResultsInPlace(messages: readonly LlmMessage[]): readonly LlmMessage[] {
  return areInPlace(messages) ? messages : moved(messages);
}

/**
 * Whether each result directly follows the reply with its call. Runs for every request, so it skips replies
 * without results (row "100 000 entries: first request").
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
  /** The group to which each call belongs; a later call with the same id replaces an earlier one. */
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
