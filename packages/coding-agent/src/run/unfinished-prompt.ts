import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { SessionLog } from "../session-log/session-log.ts";

/**
 * The messages of a prompt whose run did not end, its own first; undefined if the run ended, or the
 * conversation went on without it.
 */
export function unfinishedPrompt(
  log: Pick<SessionLog, "tree">,
  promptId: string,
): readonly [AgentMessage, ...AgentMessage[]] | undefined {
  const messages: AgentMessage[] = [];
  for (const entry of log.tree.ancestors()) {
    const known = entry as KnownSessionEntry;
    if (known.type !== "message") continue;
    messages.unshift(known.message);
    if (known.promptId === undefined) continue;
    const [first, ...rest] = messages;
    const isOpen = known.promptId === promptId && !hasEnded(messages);
    return isOpen && first !== undefined ? [first, ...rest] : undefined;
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

function hasEnded(messages: readonly AgentMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && /^(stop|length)$/.test(last.stopReason);
}
