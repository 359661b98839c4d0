import type { Usage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, USAGE_ENTRY, WARMING } from "@tau-agent/sessions/log";

/**
 * Accounts for the cost of a request that renews the cache, and stores it in the session's file, unless the session has
 * switched to another file.
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
      // If the session cannot be written, the next message reports that.
    }
    budget.addUsage(usage);
  };
}
