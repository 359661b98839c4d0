import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { isJsonObject, SESSION_VERSION } from "@tau-agent/rpc-protocol/plain";
import { createEntryId } from "./entry-id.ts";
import { mendEntry } from "./mend-entry.ts";

type RawEntry = Record<string, unknown>;

export interface RawSession {
  readonly header: SessionHeader;
  readonly entries: readonly RawEntry[];
}

/**
 * Converts the entries of an older file to version 3, in memory. Version 1 is a list without ids: it becomes a chain.
 * Version 2 calls custom messages `hookMessage`. Invalid entries of other programs are repaired in every version.
 */
export function migrateEntries({ header, entries }: RawSession): SessionEntry[] {
  const version = header.version ?? 1;
  const chained = version < 2 ? chainEntries(entries) : entries;
  const renamed = version < SESSION_VERSION ? chained.map(renameHookMessage) : chained;
  return renamed.map(mendEntry) as unknown as SessionEntry[];
}

function chainEntries(entries: readonly RawEntry[]): RawEntry[] {
  const taken = new Set<string>();
  const ids = entries.map(() => {
    const id = createEntryId((candidate) => taken.has(candidate));
    taken.add(id);
    return id;
  });
  return entries.map((entry, index) => {
    const { firstKeptEntryIndex, ...rest } = entry;
    const chained: RawEntry = { ...rest, id: ids[index], parentId: ids[index - 1] ?? null };
    // Indices of version 1 count the header as entry 0.
    if (typeof firstKeptEntryIndex === "number") {
      chained.firstKeptEntryId = ids[firstKeptEntryIndex - 1] ?? ids[0];
    }
    return chained;
  });
}

function renameHookMessage(entry: RawEntry): RawEntry {
  const { message } = entry;
  if (!isJsonObject(message) || message.role !== "hookMessage") return entry;
  return { ...entry, message: { ...message, role: "custom" } };
}
