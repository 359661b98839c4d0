import type { AgentMessage, AssistantMessage, Result } from "@tau-agent/rpc-client";
import type { RunPlace, StreamEvent } from "@tau-agent/rpc-client/streams";

type Entries = Result<"get_entries">;
type MessageEntry = { readonly promptId?: string; readonly message: AgentMessage };

interface Shown {
  readonly place: RunPlace;
  /** Calls that were shown without their results. */
  readonly calls: readonly string[];
  /** The timestamp of the reply that live events contain from its beginning. */
  readonly before: number | undefined;
}

/**
 * The stored messages of a prompt that a caller has missed, converted to the events that would have shown
 * them. Undefined if the conversation does not contain the prompt.
 */
export function missedEvents(
  stored: Entries,
  promptId: string,
  { place, calls, before }: Shown,
): StreamEvent[] | undefined {
  const messages = messagesOf(stored, promptId);
  if (messages === undefined) return undefined;
  const events: object[] = [{ type: "agent_start", promptId }];
  let replies = 0;
  for (const message of messages) {
    if (message.role === "assistant") {
      if (before !== undefined && message.timestamp >= before) break;
      replies += 1;
      if (replies > place.replies) events.push(...replyEvents(message, replies, place));
    } else if (message.role === "toolResult") {
      const isNew = replies > place.replies || calls.includes(message.toolCallId);
      if (isNew) events.push({ type: "message_end", message });
    }
  }
  return events as StreamEvent[];
}

/** The turn of the first message may have begun earlier, and part of it may have been shown. */
function replyEvents(message: AssistantMessage, count: number, place: RunPlace): object[] {
  const end = { type: "message_end", message };
  if (count > place.replies + 1) {
    return [{ type: "turn_start" }, { type: "message_start", message }, end];
  }
  return place.isInTurn && place.turn >= count ? [end] : [{ type: "turn_start" }, end];
}

function messagesOf(
  { entries, leafId }: Entries,
  promptId: string,
): readonly AgentMessage[] | undefined {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const messages: AgentMessage[] = [];
  let entry = leafId === null ? undefined : byId.get(leafId);
  while (entry !== undefined) {
    if (entry.type === "message") {
      const { promptId: id, message } = entry as unknown as MessageEntry;
      if (id === promptId) return messages.reverse();
      messages.push(message);
    }
    entry = entry.parentId === null ? undefined : byId.get(entry.parentId);
  }
  return undefined;
}
