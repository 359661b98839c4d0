import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AssistantMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { SessionLog } from "./session-log.ts";

export interface LastCalls {
  readonly message: AssistantMessage;
  readonly open: readonly ToolCall[];
}

/** The last reply, if only results of its calls follow. */
export function lastCalls(log: SessionLog): LastCalls | undefined {
  const answered = new Set<string>();
  for (const entry of log.tree.ancestors()) {
    const known = entry as KnownSessionEntry;
    if (known.type === "compaction" || known.type === "branch_summary") return undefined;
    if (known.type !== "message") continue;
    const { message } = known;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else if (message.role === "assistant") {
      // Calls of a failed or aborted reply are not read again.
      if (message.stopReason === "error" || message.stopReason === "aborted") return undefined;
      const calls = message.content.filter((block) => block.type === "toolCall");
      return { message, open: calls.filter(({ id }) => !answered.has(id)) };
    } else if (message.role !== "bashExecution") return undefined;
  }
  return undefined;
}
