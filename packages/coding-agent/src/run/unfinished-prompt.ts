import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { CONTINUE_TYPE } from "@tau-agent/rpc-protocol/plain";
import { messageOf } from "../session-log/session-context.ts";
import type { SessionLog } from "../session-log/session-log.ts";
import { OUTPUT_REMINDER } from "../structured-output/output-tool.ts";

/** Custom messages after which a run goes on. */
const goesOn: ReadonlySet<string> = new Set([CONTINUE_TYPE, OUTPUT_REMINDER]);

/** The messages of the latest prompt, its own first; undefined if that is another one. */
export function latestPrompt(
  log: Pick<SessionLog, "tree">,
  promptId: string,
): readonly [AgentMessage, ...AgentMessage[]] | undefined {
  const messages: AgentMessage[] = [];
  for (const entry of log.tree.ancestors()) {
    const message = messageOf(entry);
    if (message === undefined) continue;
    messages.push(message);
    const known = entry as KnownSessionEntry;
    if (known.type !== "message" || known.promptId === undefined) continue;
    const [first, ...rest] = messages.toReversed();
    return known.promptId === promptId && first !== undefined ? [first, ...rest] : undefined;
  }
  return undefined;
}

/** The reply at the end that an abort or an error cut off, with results of its calls. */
export function cutReply(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== "toolResult");
  const reply = messages[start];
  const isCut = reply?.role === "assistant" && /^(aborted|error)$/.test(reply.stopReason);
  return isCut ? messages.slice(start) : [];
}

/** Whether the last message is a reply with which a run ends. */
export function hasEnded(messages: readonly AgentMessage[]): boolean {
  const last = messages.findLast((message) => {
    return message.role !== "custom" || goesOn.has(message.customType);
  });
  return last?.role === "assistant" && /^(stop|length)$/.test(last.stopReason);
}
