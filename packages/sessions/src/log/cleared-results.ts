import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewEntry } from "./session-log.ts";
import type { SessionTree } from "./session-tree.ts";

/** The type of the custom entry that lists tool results which requests show as one line. */
export const CLEARED_ENTRY = "cleared_results";

/** A tool result that requests show as one line; its entry keeps the whole result. */
export interface ClearedResult {
  readonly entryId: string;
  /** The approximate size of the whole result in tokens. */
  readonly tokens: number;
  /** The entry of an earlier call with the same result, which the model still sees. */
  readonly sameAs?: string | undefined;
}

/** A result in the conversation that requests show as one line. */
export interface ShownAsLine extends ClearedResult {
  /** Requests made after this time show the line; in ms since the epoch. */
  readonly since: number;
}

/** How requests show the results of a branch, and the entry of each result. */
export interface ResultView {
  /** Results that requests show as one line, by {@link resultKey}. */
  readonly cleared: Map<string, ShownAsLine>;
  /** The entry of each result in the conversation. */
  readonly entryIds: WeakMap<AgentMessage, string>;
  /** The tokens that a clearing right after a message saved. */
  readonly savings: WeakMap<AgentMessage, number>;
}

/** The view with nothing cleared. */
export function emptyResultView(): ResultView {
  return { cleared: new Map(), entryIds: new WeakMap(), savings: new WeakMap() };
}

/** The line that requests show instead of a message; undefined if they show it in full. */
export function shownAsLine(
  message: AgentMessage,
  { cleared }: Pick<ResultView, "cleared">,
): ShownAsLine | undefined {
  if (cleared.size === 0 || message.role !== "toolResult") return undefined;
  return cleared.get(resultKey(message));
}

/** A key for a result: extensions return copies of messages, so the objects themselves cannot serve as keys. */
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

/** Whether any result was cleared, on any branch, that the model no longer sees elsewhere. */
export function hasClearedResults({ parsed }: Pick<SessionTree, "parsed">): boolean {
  return parsed.some((entry) => clearedResultsOf(entry).some(({ sameAs }) => sameAs === undefined));
}

/** How many tokens are saved by showing these results as one line. */
export function savedBy(results: readonly ClearedResult[]): number {
  return results.reduce((sum, { tokens, sameAs }) => sum + (sameAs === undefined ? tokens : 0), 0);
}
