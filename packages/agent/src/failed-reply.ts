import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";

/** What a reply says that the user stopped. */
export const ABORTED_TEXT = "Request was aborted";

/** A reply without content that says why there is none. */
export function failedReply(
  { api, provider, model }: Pick<AssistantMessage, "api" | "provider" | "model">,
  reason: { readonly stopReason: "aborted" | "error"; readonly errorMessage: string },
): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [],
    api,
    provider,
    model,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    ...reason,
    timestamp: Date.now(),
  };
}
