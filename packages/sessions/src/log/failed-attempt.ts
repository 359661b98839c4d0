import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/**
 * The failed reply at the end of a conversation with the results of its calls: the attempt that a
 * retry replaces. Shell commands of the client in between are kept.
 *
 * @returns the messages of the attempt, oldest first; none if the last reply did not fail
 */
export function failedAttempt(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const start = messages.findLastIndex(
    ({ role }) => role !== "toolResult" && role !== "bashExecution",
  );
  const reply = messages[start];
  if (reply?.role !== "assistant" || reply.stopReason !== "error") return [];
  return messages.slice(start).filter(({ role }) => role !== "bashExecution");
}
