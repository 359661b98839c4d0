import type { StopReason } from "@agentclientprotocol/sdk";
import type { PromptResult } from "@tau-agent/coding-agent";
import { codedError } from "./errors.ts";

/** Why a turn ended. */
export interface TurnEnd {
  readonly stopReason: StopReason;
  /** Words of the vendor that the conversation does not hold. */
  readonly text?: string | undefined;
}

/**
 * How the turn of a prompt ended.
 *
 * @throws {RequestError} -32000 if the vendor refused the key, -32603 for other failures
 */
export function turnEnd({ status, error, errorCode, messages }: PromptResult): TurnEnd {
  if (status === "aborted") return { stopReason: "cancelled" };
  if (status === "error") {
    if (errorCode === "content_filtered") return { stopReason: "refusal", text: error };
    throw codedError(errorCode, error ?? "The request failed");
  }
  const last = messages.findLast((message) => message.role === "assistant");
  return { stopReason: last?.stopReason === "length" ? "max_tokens" : "end_turn" };
}
