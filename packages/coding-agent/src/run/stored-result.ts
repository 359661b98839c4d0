import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import { lastReplyText } from "@tau-agent/rpc-protocol/plain";
import type { SessionLog } from "../session-log/session-log.ts";

/** The result of a prompt that the session has from before, as its file tells it. */
export function storedResult(log: Pick<SessionLog, "tree">, promptId: string): PromptResult {
  const messages: AgentMessage[] = [];
  for (const entry of log.tree.ancestors()) {
    const known = entry as KnownSessionEntry;
    if (known.type !== "message") continue;
    messages.push(known.message);
    if (known.promptId === undefined) continue;
    if (known.promptId === promptId) {
      return resultOf(promptId, messages.toReversed());
    }
    // What was collected answers another prompt.
    messages.length = 0;
  }
  return resultOf(promptId, []);
}

function resultOf(promptId: string, messages: readonly AgentMessage[]): PromptResult {
  const reply = messages.findLast(({ role }) => role === "assistant");
  const { stopReason = "aborted", errorMessage } =
    reply?.role === "assistant" ? reply : { errorMessage: undefined };
  const result = { id: undefined, promptId, text: lastReplyText(messages), messages };
  if (stopReason === "error") return { ...result, status: "error", error: errorMessage };
  return { ...result, status: stopReason === "aborted" ? "aborted" : "completed" };
}
