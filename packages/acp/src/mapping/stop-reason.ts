import type { StopReason } from "@agentclientprotocol/sdk";
import type { PromptResult } from "@tau-agent/coding-agent";
import { codedError } from "./errors.ts";

export interface TurnEnd {
  readonly stopReason: StopReason;
  /** A message from the vendor or the host that is not part of the conversation. */
  readonly text?: string | undefined;
}

/**
 * How the turn of a prompt ended.
 *
 * @param usedUp - the message to show if a limit of the session stopped the turn
 * @throws {RequestError} -32000 if the vendor refused the key, -32603 for other failures
 */
export function turnEnd(
  { status, error, code, messages }: PromptResult,
  usedUp?: string | undefined,
): TurnEnd {
  if (status === "aborted") {
    // The client did not cancel; the protocol has one stop reason for all limits of a turn.
    if (usedUp !== undefined) return { stopReason: "max_turn_requests", text: usedUp };
    return { stopReason: "cancelled" };
  }
  if (status === "paused") return { stopReason: "max_turn_requests" };
  if (status === "error") {
    if (code === "content_filtered") return { stopReason: "refusal", text: error };
    throw codedError(code, error ?? "The request failed");
  }
  const last = messages.findLast((message) => message.role === "assistant");
  return { stopReason: last?.stopReason === "length" ? "max_tokens" : "end_turn" };
}
