import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { CONTINUE_TYPE } from "@tau-agent/rpc-protocol/plain";
import type { SessionLog } from "@tau-agent/sessions/log";
import { OUTPUT_REMINDER } from "@tau-agent/system";
import { branchPrompts } from "./branch-prompts.ts";

/** The types of custom messages after which a run continues. */
const goesOn: ReadonlySet<string> = new Set([CONTINUE_TYPE, OUTPUT_REMINDER]);

/** The messages of the latest prompt, its own message first; undefined if the latest is another prompt. */
export function latestPrompt(
  log: Pick<SessionLog, "tree">,
  promptId: string,
): readonly [AgentMessage, ...AgentMessage[]] | undefined {
  const { value: latest } = branchPrompts(log).next();
  if (latest?.promptId !== promptId) return undefined;
  const [first, ...rest] = latest.messages;
  return first === undefined ? undefined : [first, ...rest];
}

/** The reply at the end that was cut off by an abort or an error, with the results of its calls. */
export function cutReply(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== "toolResult");
  const reply = messages[start];
  const isCut = reply?.role === "assistant" && /^(aborted|error)$/.test(reply.stopReason);
  return isCut ? messages.slice(start) : [];
}

/** Whether the last message is a reply that ends a run. */
export function hasEnded(messages: readonly AgentMessage[]): boolean {
  const last = messages.findLast((message) => {
    return message.role !== "custom" || goesOn.has(message.customType);
  });
  return last?.role === "assistant" && /^(stop|length)$/.test(last.stopReason);
}
