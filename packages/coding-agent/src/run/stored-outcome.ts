import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import type { SessionLog } from "@tau-agent/sessions/log";
import { branchPrompts } from "./branch-prompts.ts";
import {
  type PromptIdentity,
  type PromptOutcome,
  promptResult,
  withAnswer,
} from "./prompt-tracker.ts";

/** The outcome of an earlier prompt of the session, according to its entries. */
export function storedOutcome(
  log: Pick<SessionLog, "tree">,
  { id, promptId, answer }: PromptIdentity,
): { readonly outcome: PromptOutcome; readonly result: PromptResult } {
  const messages = messagesOf(log, promptId);
  answer?.replay(messages);
  const outcome = withAnswer({ id, promptId, ...endOf(messages) }, answer, messages);
  return { outcome, result: promptResult(outcome, messages) };
}

/** The messages of a prompt, its own message first; none if it is not on the branch. */
function messagesOf(log: Pick<SessionLog, "tree">, promptId: string): readonly AgentMessage[] {
  for (const prompt of branchPrompts(log)) {
    if (prompt.promptId === promptId) return prompt.messages;
  }
  return [];
}

function endOf(
  messages: readonly AgentMessage[],
): Pick<PromptOutcome, "status" | "error" | "code"> {
  const reply = messages.findLast(({ role }) => role === "assistant");
  if (reply?.role !== "assistant") return { status: "aborted" };
  const { stopReason, errorMessage } = reply;
  // Entries do not record a code.
  if (stopReason === "error") return { status: "error", error: errorMessage, code: "unknown" };
  return { status: stopReason === "aborted" ? "aborted" : "completed" };
}
