import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext, type Conversation, type NewEntry } from "@tau-agent/sessions/log";
import { contextTokens } from "../compaction/estimate.ts";
import type { AgentQueues } from "../run/agent-queues.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { BoundaryDraft } from "./api/events.ts";
import { customMessageOf } from "./extension-hooks.ts";

export function pendingMessages(agent: AgentQueues): readonly AgentMessage[] {
  return [agent.steering, agent.followUp, agent.nextTurn].flatMap((queue) => [...queue.messages]);
}

/** The conversation as it would be with these entries appended. */
export function messagesWith(
  conversation: Conversation,
  drafts: readonly BoundaryDraft[],
): readonly AgentMessage[] {
  if (drafts.length === 0) return conversation.messages;
  const timestamp = new Date().toISOString();
  const added = drafts.map((draft, index): SessionEntry => {
    return { ...entryOf(draft, conversation), id: `draft-${index}`, parentId: null, timestamp };
  });
  return buildSessionContext([...conversation.log.tree.branch(), ...added]).messages;
}

/** Writes entries, and updates the conversation to match the file. */
export async function addEntries(
  session: Pick<AgentSession, "deliver">,
  conversation: Conversation,
  drafts: readonly BoundaryDraft[],
): Promise<void> {
  for (const draft of drafts) {
    if (draft.type === "custom_message") await session.deliver(customMessageOf(draft), "none");
    else if (draft.type === "custom") conversation.append(entryOf(draft, conversation));
    else conversation.adopt(entryOf(draft, conversation));
  }
}

function entryOf(draft: BoundaryDraft, { messages }: Conversation): NewEntry {
  switch (draft.type) {
    case "custom":
    case "context_edit":
      return { ...draft };
    case "custom_message":
      return { ...draft, display: draft.display ?? true };
    case "compaction": {
      const tokensBefore = contextTokens(messages);
      // No entry has this id, so nothing is kept.
      const firstKeptEntryId = draft.firstKeptEntryId ?? "";
      return { ...draft, firstKeptEntryId, tokensBefore, fromHook: true };
    }
  }
}
