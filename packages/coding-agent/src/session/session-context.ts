import type { KnownSessionEntry, SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { normalizeMessage } from "./normalize-message.ts";

/** What a branch says about the conversation to continue. */
export interface SessionContext {
  readonly messages: AgentMessage[];
  /** Undefined when the branch does not say. */
  readonly thinkingLevel: string | undefined;
  readonly model: { readonly provider: string; readonly modelId: string } | undefined;
}

/** Builds the conversation from the entries of a branch, oldest first. */
export function buildSessionContext(branch: readonly SessionEntry[]): SessionContext {
  let thinkingLevel: SessionContext["thinkingLevel"];
  let model: SessionContext["model"];
  let compaction: SessionEntryOf<"compaction"> | undefined;
  for (const entry of branch as readonly KnownSessionEntry[]) {
    if (entry.type === "thinking_level_change") thinkingLevel = entry.thinkingLevel;
    else if (entry.type === "model_change") model = entry;
    else if (entry.type === "compaction") compaction = entry;
    else if (entry.type === "message" && entry.message.role === "assistant") {
      model = { provider: entry.message.provider, modelId: entry.message.model };
    }
  }
  return {
    messages: collectMessages(branch, compaction),
    thinkingLevel,
    model: model && { provider: model.provider, modelId: model.modelId },
  };
}

/** The latest compaction stands for everything before its first kept entry. */
function collectMessages(
  branch: readonly SessionEntry[],
  compaction: SessionEntryOf<"compaction"> | undefined,
): AgentMessage[] {
  const messages: AgentMessage[] = [];
  const add = (entry: SessionEntry): void => {
    const message = messageOf(entry as KnownSessionEntry);
    if (message !== undefined) messages.push(message);
  };
  if (compaction === undefined) {
    for (const entry of branch) add(entry);
    return messages;
  }
  messages.push({
    role: "compactionSummary",
    summary: compaction.summary,
    tokensBefore: compaction.tokensBefore,
    timestamp: Date.parse(compaction.timestamp),
  });
  const end = branch.indexOf(compaction);
  const start = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  if (start !== -1) for (const entry of branch.slice(start, end)) add(entry);
  for (const entry of branch.slice(end + 1)) add(entry);
  return messages;
}

function messageOf(entry: KnownSessionEntry): AgentMessage | undefined {
  switch (entry.type) {
    case "message":
      return normalizeMessage(entry.message);
    case "custom_message":
      return {
        role: "custom",
        customType: entry.customType,
        content: entry.content,
        display: entry.display,
        ...(entry.details === undefined ? {} : { details: entry.details }),
        timestamp: Date.parse(entry.timestamp),
      };
    case "branch_summary":
      return entry.summary === ""
        ? undefined
        : {
            role: "branchSummary",
            summary: entry.summary,
            fromId: entry.fromId,
            timestamp: Date.parse(entry.timestamp),
          };
    default:
      return undefined;
  }
}
