import { emptyUsage, type StreamResult } from "@tau-agent/ai";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";

/** The error message of a reply that the user stopped. */
export const ABORTED_TEXT = "Request was aborted";

export interface Reply extends StreamResult {
  /** The error thrown before or during the reply. */
  readonly cause?: unknown;
}

export interface FailureReason {
  readonly stopReason: "aborted" | "error";
  readonly errorMessage: string;
}

export function failedReply(
  { api, provider, model }: Pick<AssistantMessage, "api" | "provider" | "model">,
  reason: FailureReason,
): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api,
    provider,
    model,
    usage: emptyUsage(),
    ...reason,
    timestamp: Date.now(),
  };
}
