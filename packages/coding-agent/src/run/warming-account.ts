import type { Usage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, USAGE_ENTRY, WARMING } from "@tau-agent/sessions/log";

/**
 * Counts what a request costs that is about to renew the cache, and keeps it in the session's file, unless the
 * session has gone on to another one.
 */
export function warmingAccount(
  conversation: Pick<Conversation, "log" | "append">,
  budget: { addUsage(usage: Usage): void },
): (usage: Usage) => void {
  const { log } = conversation;
  return (usage) => {
    if (conversation.log !== log) return;
    try {
      conversation.append({
        type: "custom",
        customType: USAGE_ENTRY,
        data: { usage, purpose: WARMING },
      });
    } catch {
      // A session that cannot be written reports that with the next message.
    }
    budget.addUsage(usage);
  };
}
