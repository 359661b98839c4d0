import type { ApprovalResult } from "@tau-agent/rpc-protocol";
import { titleOfCall } from "@tau-agent/rpc-protocol/plain";
import { type LeaveQuestion, randomUuid } from "@tau-agent/system";
import { readApprovalResult } from "./approval-result.ts";
import { placeOfCall } from "./place-of-call.ts";
import type { QuestionsOptions } from "./questions.ts";

/**
 * Asks whether a call may leave the sandbox. No rule answers this question, and the answer creates none. The question
 * does not survive the host: the call has already run once, and must not be repeated automatically.
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
