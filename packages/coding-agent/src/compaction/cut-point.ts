import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { messageOf } from "@tau-agent/sessions/log";
import { estimateTokens } from "./estimate.ts";

/** Where to cut a conversation in two. Indices refer to the given entries. */
export interface CutPoint {
  /** The first entry that is kept verbatim. */
  readonly firstKept: number;
  /** The start of the turn that is cut; equal to `firstKept` if the cut is between two turns. */
  readonly turnStart: number;
}

/**
 * Finds the cut that keeps about `keepRecentTokens` of the newest messages. It never separates a
 * tool call from its result.
 *
 * @returns undefined if nothing would be left to summarise
 */
export function findCutPoint(
  entries: readonly SessionEntry[],
  keepRecentTokens: number,
): CutPoint | undefined {
  const wanted = newestWithin(entries, keepRecentTokens);
  if (wanted === undefined) return undefined;
  let cut = wanted;
  while (cut < entries.length && !isCutPoint(entries[cut])) cut += 1;
  // Results at the end stay with their calls.
  if (cut === entries.length) cut = entries.slice(0, wanted).findLastIndex(isCutPoint);
  return cut < 0 ? undefined : cutAt(entries, cut);
}

/**
 * The cut that keeps as much as fits into `maxKeptTokens`.
 *
 * @returns undefined if not even the newest message fits
 */
export function findFittingCut(
  entries: readonly SessionEntry[],
  maxKeptTokens: number,
): CutPoint | undefined {
  let cut: number | undefined;
  for (const { index, entry, tokens } of fromNewest(entries)) {
    if (tokens > maxKeptTokens) break;
    if (isCutPoint(entry)) cut = index;
  }
  return cut === undefined ? undefined : cutAt(entries, cut);
}

/** Cuts just before a message and the entries that belong to it. */
function cutAt(entries: readonly SessionEntry[], cut: number): CutPoint | undefined {
  const turnStart = isTurnStart(entries[cut]) ? cut : turnStartBefore(entries, cut);
  const firstKept = pullBack(entries, cut);
  const start = turnStart === cut ? firstKept : turnStart;
  return firstKept === 0 ? undefined : { firstKept, turnStart: start };
}

/** The index of the oldest entry within the newest `keepTokens`; undefined if all entries fit. */
function newestWithin(entries: readonly SessionEntry[], keepTokens: number): number | undefined {
  for (const { index, tokens } of fromNewest(entries)) if (tokens >= keepTokens) return index;
  return undefined;
}

/** The message entries from newest to oldest, each with the total tokens so far. */
function* fromNewest(entries: readonly SessionEntry[]) {
  let tokens = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    const message = entry && messageOf(entry);
    if (message === undefined) continue;
    tokens += estimateTokens(message);
    yield { index, entry, tokens };
  }
}

/** Moves the cut so that names, labels and model changes just before it stay with the entries after it. */
function pullBack(entries: readonly SessionEntry[], cut: number): number {
  let index = cut;
  while (index > 0) {
    const entry = entries[index - 1];
    if (entry === undefined || entry.type === "compaction" || messageOf(entry)) break;
    index -= 1;
  }
  return index;
}

function turnStartBefore(entries: readonly SessionEntry[], cut: number): number {
  for (let index = cut - 1; index >= 0; index--) if (isTurnStart(entries[index])) return index;
  return 0;
}

function isCutPoint(entry: SessionEntry | undefined): boolean {
  const message = entry && messageOf(entry);
  return message !== undefined && message.role !== "toolResult";
}

function isTurnStart(entry: SessionEntry | undefined): boolean {
  const known = entry as KnownSessionEntry | undefined;
  if (known?.type === "custom_message" || known?.type === "branch_summary") return true;
  if (known?.type !== "message") return false;
  return known.message.role === "user" || known.message.role === "bashExecution";
}
