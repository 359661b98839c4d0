import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { fieldText } from "./facts.ts";
import { quietEntries } from "./quiet-entries.ts";

export interface SessionOutline {
  readonly entries: readonly SessionEntry[];
  /** The parent of each entry, -1 for a root; always smaller than the index itself. */
  readonly parents: readonly number[];
  /** The entries from the root to the leaf, oldest first. */
  readonly path: readonly number[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** The leaf; -1 if there is none. */
  readonly leaf: number;
  readonly labels: ReadonlyMap<string, string>;
  /** Results of the calls of a reply: index of the reply, then id of the call. */
  readonly resultsOf: ReadonlyMap<number, ReadonlyMap<string, readonly number[]>>;
  /** Entries that are shown within a reply, with the index of that reply. */
  readonly nested: ReadonlyMap<number, number>;
  /** Entries that are not shown, because they have no information for a reader. */
  readonly quiet: ReadonlySet<number>;
}

/** Reads the structure of a session; accepts entries of any content. */
export function outlineSession(
  entries: readonly SessionEntry[],
  leafId: string | null,
): SessionOutline {
  const { parents, indexOf } = linkEntries(entries);
  const leaf = leafId === null ? -1 : (indexOf.get(leafId) ?? entries.length - 1);
  return {
    entries,
    parents,
    indexOf,
    path: pathTo(leaf, parents),
    leaf,
    labels: labelsOf(entries),
    quiet: quietEntries(entries, parents),
    ...matchResults(entries, parents),
  };
}

/** If a parent is missing or comes later, the preceding entry replaces it. */
function linkEntries(entries: readonly SessionEntry[]) {
  const indexOf = new Map<string, number>();
  const parents: number[] = [];
  for (const [index, { id, parentId }] of entries.entries()) {
    const isRoot = parentId === null || parentId === undefined;
    parents.push(isRoot ? -1 : (indexOf.get(parentId) ?? index - 1));
    indexOf.set(id, index);
  }
  return { parents, indexOf };
}

function pathTo(leaf: number, parents: readonly number[]): number[] {
  const path: number[] = [];
  for (let at = leaf; at >= 0; at = parents[at] ?? -1) path.push(at);
  return path.reverse();
}

function labelsOf(entries: readonly SessionEntry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    const { targetId, label } = entry as { targetId?: unknown; label?: unknown };
    if (typeof targetId !== "string") continue;
    if (typeof label === "string" && label !== "") labels.set(targetId, label);
    else labels.delete(targetId);
  }
  return labels;
}

function matchResults(entries: readonly SessionEntry[], parents: readonly number[]) {
  const resultsOf = new Map<number, Map<string, number[]>>();
  const nested = new Map<number, number>();
  // For each entry, the last reply with calls at or above it.
  const replies: number[] = [];
  for (const [index, entry] of entries.entries()) {
    const message = messageOf(entry);
    const above = replies[parents[index] ?? -1] ?? -1;
    const calls = message === undefined ? [] : callIdsOf(message);
    replies.push(calls.length > 0 ? index : above);
    if (calls.length > 0) resultsOf.set(index, new Map(calls.map((id) => [id, []])));
    if (message?.role !== "toolResult") continue;
    const results = resultsOf.get(above)?.get(fieldText(message.toolCallId));
    if (results === undefined) continue;
    results.push(index);
    nested.set(index, above);
  }
  return { resultsOf, nested };
}

/** The message of an entry as it is in the file, whatever its role and fields. */
export function messageOf(entry: SessionEntry): Readonly<Record<string, unknown>> | undefined {
  const { message } = entry as { message?: unknown };
  return entry.type === "message" && isJsonObject(message) ? message : undefined;
}

function callIdsOf({ role, content }: Readonly<Record<string, unknown>>): string[] {
  if (role !== "assistant" || !Array.isArray(content)) return [];
  return content.filter((block) => block?.type === "toolCall").map((block) => fieldText(block.id));
}

const silentTypes: ReadonlySet<string> = new Set([
  "model_change",
  "thinking_level_change",
  "session_info",
  "label",
  "custom",
  "usage",
] satisfies (KnownSessionEntry["type"] | "usage")[]);

/** Whether a session contains anything to read: more than settings and state. */
export function hasConversation(entries: readonly SessionEntry[]): boolean {
  return entries.some(({ type }) => !silentTypes.has(type));
}
