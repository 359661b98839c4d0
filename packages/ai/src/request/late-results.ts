import type { AssistantContent, LlmMessage } from "@tau-agent/rpc-protocol/messages";

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
 * Whether each result directly follows the reply with its call. Runs for every request, so it makes no set while
 * results come in the order of their calls (rows "100 000 entries: first request" and `read-turn-late`).
 */
function areInPlace(messages: readonly LlmMessage[]): boolean {
  let content: readonly AssistantContent[] = [];
  let next = 0;
  let asked: ReadonlySet<string> | undefined;
  for (const message of messages) {
    if (message.role !== "toolResult") {
      content = message.role === "assistant" ? message.content : [];
      next = 0;
      asked = undefined;
      continue;
    }
    while (next < content.length && content[next]?.type !== "toolCall") next++;
    const call = content[next++];
    if (call?.type === "toolCall" && call.id === message.toolCallId) continue;
    asked ??= new Set(callIds(content));
    if (!asked.has(message.toolCallId)) return false;
  }
  return true;
}

function callIds(content: readonly AssistantContent[]): string[] {
  return content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
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
    if (message.role !== "assistant") continue;
    for (const id of callIds(message.content)) askedIn.set(id, group);
  }
  return hasMoved ? groups.flat() : messages;
}
