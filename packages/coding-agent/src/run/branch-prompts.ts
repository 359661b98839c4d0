import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { messageOf, type SessionLogView } from "@tau-agent/sessions/log";

/** A prompt of the branch with all messages that followed from it. */
export interface BranchPrompt {
  readonly promptId: string;
  /** The prompt's own message first. */
  readonly messages: readonly AgentMessage[];
}

/** The prompts of the current branch, the latest first. */
export function* branchPrompts(log: Pick<SessionLogView, "tree">): Generator<BranchPrompt> {
  let messages: AgentMessage[] = [];
  for (const entry of log.tree.ancestors()) {
    const message = messageOf(entry);
    if (message === undefined) continue;
    messages.push(message);
    const known = entry as KnownSessionEntry;
    if (known.type !== "message" || known.promptId === undefined) continue;
    yield { promptId: known.promptId, messages: messages.reverse() };
    messages = [];
  }
}
