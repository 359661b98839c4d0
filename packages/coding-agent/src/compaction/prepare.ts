import type { SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { contextEntries, messageOf } from "../session-log/session-context.ts";
import { findCutPoint } from "./cut-point.ts";
import { collectFiles, type FileLists } from "./file-operations.ts";

/** What to summarise and what to keep. */
export interface CompactionPreparation {
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  /** The start of the turn that is cut; empty if the cut is between turns. */
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly isSplitTurn: boolean;
  readonly previousSummary: string | undefined;
  readonly files: FileLists;
}

/**
 * Decides what a compaction of this branch summarises; pure.
 *
 * @returns the error code that says why there is nothing to do
 */
export function prepareCompaction(
  branch: readonly SessionEntry[],
  keepRecentTokens: number,
): CompactionPreparation | "already_compacted" | "nothing_to_compact" {
  if (branch.at(-1)?.type === "compaction") return "already_compacted";
  const { compaction, entries } = contextEntries(branch);
  const cut = findCutPoint(entries, keepRecentTokens);
  const firstKept = cut && entries[cut.firstKept];
  if (cut === undefined || firstKept === undefined) return "nothing_to_compact";
  const isSplitTurn = cut.turnStart < cut.firstKept;
  const messagesToSummarize = messagesIn(entries.slice(0, cut.turnStart));
  const turnPrefixMessages = isSplitTurn
    ? messagesIn(entries.slice(cut.turnStart, cut.firstKept))
    : [];
  const summarized = [...messagesToSummarize, ...turnPrefixMessages];
  if (summarized.length === 0) return "nothing_to_compact";
  return {
    firstKeptEntryId: firstKept.id,
    messagesToSummarize,
    turnPrefixMessages,
    isSplitTurn,
    previousSummary: compaction?.summary,
    files: collectFiles(summarized, earlierDetails(compaction)),
  };
}

/** Extensions may put anything into `details`. */
function earlierDetails(compaction: SessionEntryOf<"compaction"> | undefined): unknown {
  return compaction?.fromHook ? undefined : compaction?.details;
}

function messagesIn(entries: readonly SessionEntry[]): AgentMessage[] {
  return entries.map(messageOf).filter((message) => message !== undefined);
}
