import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewEntry } from "./session-log.ts";
import type { SessionTree } from "./session-tree.ts";

/** The type of the custom entry that lists results of tools which requests show as one line. */
export const CLEARED_ENTRY = "cleared_results";

/** A result that requests show as one line; the entry that holds it keeps all. */
export interface ClearedResult {
  readonly entryId: string;
  /** About how many tokens the whole result takes. */
  readonly tokens: number;
  /** The entry of an earlier call with the same result, which the model still sees. */
  readonly sameAs?: string | undefined;
}

/** A result in the conversation that requests show as one line. */
export interface ShownAsLine extends ClearedResult {
  /** The first requests that did are younger; in ms since the epoch. */
  readonly since: number;
}

/** What a branch says about results that requests do not show, and the entries of all of them. */
export interface ResultView {
  /** Results that requests show as one line, by {@link resultKey}. */
  readonly cleared: Map<string, ShownAsLine>;
  /** The entry of each result in the conversation. */
  readonly entryIds: WeakMap<AgentMessage, string>;
  /** What a clearing right after a message saved, in tokens. */
  readonly savings: WeakMap<AgentMessage, number>;
}

/** Nothing is cleared. */
export function emptyResultView(): ResultView {
  return { cleared: new Map(), entryIds: new WeakMap(), savings: new WeakMap() };
}

/** Extensions hand copies of messages back, so the objects themselves cannot be the key. */
export function resultKey({ toolCallId, timestamp }: ToolResultMessage): string {
  return `${timestamp} ${toolCallId}`;
}

/** The entry that lists results. */
export function clearedResultsEntry(results: readonly ClearedResult[]): NewEntry {
  return { type: "custom", customType: CLEARED_ENTRY, data: { results } };
}

/** The results that an entry lists; none for every other entry. */
export function clearedResultsOf(entry: SessionEntry): readonly ClearedResult[] {
  const known = entry as KnownSessionEntry;
  if (known.type !== "custom" || known.customType !== CLEARED_ENTRY) return [];
  const { results } = isJsonObject(known.data) ? known.data : {};
  return Array.isArray(results) ? results.filter(isClearedResult) : [];
}

function isClearedResult(value: unknown): value is ClearedResult {
  if (!isJsonObject(value)) return false;
  const { entryId, tokens, sameAs } = value;
  const isNamed =
    typeof entryId === "string" && (sameAs === undefined || typeof sameAs === "string");
  return isNamed && typeof tokens === "number" && tokens >= 0;
}

/** Whether anything was cleared that the model no longer sees, on any branch. */
export function hasClearedResults({ parsed }: Pick<SessionTree, "parsed">): boolean {
  return parsed.some((entry) => clearedResultsOf(entry).some(({ sameAs }) => sameAs === undefined));
}

/** How much results save that become one line now, in tokens. */
export function savedBy(results: readonly ClearedResult[]): number {
  return results.reduce((sum, { tokens, sameAs }) => sum + (sameAs === undefined ? tokens : 0), 0);
}
