import type { SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { contextEntries, messageOf } from "@tau-agent/sessions/log";
import { settingsTable } from "@tau-agent/system";
import { type CutPoint, findCutPoint, findFittingCut } from "./cut-point.ts";
import { estimateTokens } from "./estimate.ts";
import { collectFiles, type FileLists } from "./file-operations.ts";

export interface CompactionPreparation {
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  /** The start of the turn that is cut; empty if the cut is between turns. */
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly isSplitTurn: boolean;
  readonly previousSummary: string | undefined;
  readonly files: FileLists;
}

/** When a compaction is due and what it keeps, in tokens. */
export interface CompactionLimits {
  /** The size above which a conversation is compacted. */
  readonly dueTokens: number;
  readonly keepRecentTokens: number;
  /** The most that can be kept: with more, the next compaction would soon be due. */
  readonly maxKeptTokens: number;
}

export interface LimitSettings {
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
  readonly thresholdTokens?: number | undefined;
}

/** A conversation may grow to this size, or to half of a smaller window, however large the reserve is. */
const MIN_DUE_TOKENS = 20_000;

const defaultKeep = settingsTable["compaction.keepRecentTokens"].default;

/** The limits from the settings, lowered only if the context window is too small for them. */
export function fitLimits(
  { reserveTokens, keepRecentTokens, thresholdTokens = Infinity }: LimitSettings,
  contextWindow: number | undefined,
): CompactionLimits {
  const window = contextWindow || Infinity;
  const room = Math.max(window - reserveTokens, Math.min(window / 2, MIN_DUE_TOKENS));
  const dueTokens = Math.min(room, thresholdTokens);
  // The default suits large windows; a number that the user has set is respected.
  const isMeant = keepRecentTokens !== defaultKeep && keepRecentTokens < dueTokens;
  const keep = isMeant ? keepRecentTokens : Math.min(keepRecentTokens, Math.floor(dueTokens / 2));
  const half = Math.floor(Math.min(window, thresholdTokens) / 2);
  return { dueTokens, keepRecentTokens: keep, maxKeptTokens: Math.max(half, keep) };
}

/**
 * Limits after the vendor refused a conversation: its window may be smaller than the catalogue or
 * models.json says, so at most half of the conversation is kept, however small it seems.
 */
export function limitsBelow(
  limits: CompactionLimits,
  refused: readonly AgentMessage[],
): CompactionLimits {
  const half = Math.floor(refused.reduce((sum, message) => sum + estimateTokens(message), 0) / 2);
  return {
    ...limits,
    keepRecentTokens: Math.min(limits.keepRecentTokens, half),
    maxKeptTokens: Math.min(limits.maxKeptTokens, half),
  };
}

/**
 * Decides what a compaction of this branch summarises; pure.
 *
 * @returns the error code that says why there is nothing to do
 */
export function prepareCompaction(
  branch: readonly SessionEntry[],
  { keepRecentTokens, maxKeptTokens }: Pick<CompactionLimits, "keepRecentTokens" | "maxKeptTokens">,
): CompactionPreparation | "already_compacted" | "nothing_to_compact" {
  // Custom entries may follow a compaction, such as the list of results cleared with it.
  const newest = branch.findLast(({ type }) => type !== "custom");
  if (newest?.type === "compaction") return "already_compacted";
  const { compaction, entries } = contextEntries(branch);
  const cut = fittingCut(entries, { keepRecentTokens, maxKeptTokens });
  if (cut === undefined) return "nothing_to_compact";
  const firstKept = entries[cut.firstKept];
  const isSplitTurn = cut.turnStart < cut.firstKept;
  const messagesToSummarize = messagesIn(entries.slice(0, cut.turnStart));
  const turnPrefixMessages = isSplitTurn
    ? messagesIn(entries.slice(cut.turnStart, cut.firstKept))
    : [];
  const summarized = [...messagesToSummarize, ...turnPrefixMessages];
  if (summarized.length === 0) return "nothing_to_compact";
  return {
    // No entry has an empty id, so nothing is kept.
    firstKeptEntryId: firstKept?.id ?? "",
    messagesToSummarize,
    turnPrefixMessages,
    isSplitTurn,
    previousSummary: compaction?.summary,
    files: collectFiles(summarized, earlierDetails(compaction)),
  };
}

/**
 * Chooses the cut. A large message at the start of the kept part is summarised after all if it would fill the window.
 * If even the results of the last calls would, nothing is kept, and the summary covers them. A prompt without a reply
 * always stays.
 */
function fittingCut(
  entries: readonly SessionEntry[],
  { keepRecentTokens, maxKeptTokens }: Pick<CompactionLimits, "keepRecentTokens" | "maxKeptTokens">,
): CutPoint | undefined {
  const cut = findCutPoint(entries, keepRecentTokens);
  const kept = messagesIn(entries.slice(cut?.firstKept ?? 0));
  const tokens = kept.reduce((sum, message) => sum + estimateTokens(message), 0);
  if (tokens <= maxKeptTokens) return cut;
  const newest = kept.findLast((message) => !hasFailed(message));
  if (newest?.role === "assistant" || newest?.role === "toolResult") {
    const all = { firstKept: entries.length, turnStart: entries.length };
    return findFittingCut(entries, maxKeptTokens) ?? all;
  }
  const newestTokens = newest === undefined ? 0 : estimateTokens(newest);
  return findFittingCut(entries, Math.max(maxKeptTokens, newestTokens)) ?? cut;
}

/** A failed reply does not answer the prompt before it. */
function hasFailed(message: AgentMessage): boolean {
  if (message.role !== "assistant") return false;
  return message.stopReason === "error" || message.stopReason === "aborted";
}

/** The details of the earlier compaction; those of extensions may be anything and are ignored. */
function earlierDetails(compaction: SessionEntryOf<"compaction"> | undefined): unknown {
  return compaction?.fromHook ? undefined : compaction?.details;
}

function messagesIn(entries: readonly SessionEntry[]): AgentMessage[] {
  return entries.map(messageOf).filter((message) => message !== undefined);
}
