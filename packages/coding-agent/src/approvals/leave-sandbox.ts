import type { ApprovalResult } from "@tau-agent/rpc-protocol";
import { titleOfCall } from "@tau-agent/rpc-protocol/plain";
import { type LeaveQuestion, randomUuid } from "@tau-agent/system";
import { readApprovalResult } from "./approval-result.ts";
import { placeOfCall } from "./place-of-call.ts";
import type { QuestionsOptions } from "./questions.ts";

/**
 * Asks whether a call may leave the sandbox. No rule answers this, and none is made from the answer. The
 * question is not kept for a later host: the call has run once, and must not run again by itself.
 */
export async function askToLeaveSandbox(
  { requests, environment, permissions, promptId, log, isProjectTrusted }: QuestionsOptions,
  { toolCallId, toolName, input, reason }: LeaveQuestion,
  signal: AbortSignal,
): Promise<boolean> {
  const { onTimeout, timeoutMs } = permissions.state;
  const params = {
    toolName,
    input: { ...input },
    ...placeOfCall(environment),
    title: `Outside of the sandbox: ${titleOfCall({ toolName, input })}`,
    reason,
    suggestions: [],
  };
  const { by, outcome } = await requests.ask<ApprovalResult>({
    id: randomUuid(),
    method: "tool_approval",
    params,
    promptId: promptId(),
    toolCallId,
    onTimeout,
    timeoutMs,
    signal,
    unanswered: "deny",
    read: (result) => readApprovalResult(result, { isProjectTrusted: isProjectTrusted() }),
  });
  const decision = outcome === "allow" ? "allow" : "deny";
  log.answered({ toolCallId, decision, by });
  return decision === "allow";
}
