import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry, SubagentInfo } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import {
  nothingUsed,
  readConversation,
  SUBAGENT_ENTRY,
  type WrittenConversation,
} from "@tau-agent/sessions/log";

/** A subagent as recorded in its session's file. */
export interface SubagentRecord extends SubagentInfo {
  readonly isolated: boolean;
  /** Its nesting depth: 1 if a person's session started it. */
  readonly depth: number;
  /** The folder of its session file. */
  readonly directory?: string | undefined;
  readonly storedSession?: string | undefined;
  /** A patch with an isolated subagent's work that is not in the caller's files. */
  readonly keptPatch?: string | undefined;
  /** The patch that keeps its work if its host is killed: newer than `keptPatch`, and empty if there is no work. */
  readonly treePatch?: string | undefined;
  readonly output?: string | undefined;
}

/** The patch with work that is not in the caller's files. Leftovers of killed hosts must have been kept before. */
export async function patchOf({
  keptPatch,
  treePatch,
}: SubagentRecord): Promise<string | undefined> {
  const found = treePatch && (await stat(treePatch).catch(() => undefined));
  if (!found) return keptPatch;
  return found.size > 0 ? treePatch : undefined;
}

/** The subagents in entries, in the order of their first starts. No host is running them any more. */
export function recordsIn(entries: Iterable<SessionEntry>): Map<string, SubagentRecord> {
  const records = new Map<string, SubagentRecord>();
  for (const entry of entries as Iterable<KnownSessionEntry>) {
    if (entry.type !== "custom" || entry.customType !== SUBAGENT_ENTRY) continue;
    const record = { usage: nothingUsed, ...Object(entry.data) } as SubagentRecord;
    const status = record.status === "running" ? "interrupted" : record.status;
    records.set(record.id, { ...record, status });
  }
  return records;
}

export function infoOf(record: SubagentRecord, prefix = ""): SubagentInfo {
  const { id, agent, description, status, startedAt, endedAt, usage, background } = record;
  const { sessionFile, toolCallId } = record;
  return {
    ...{ id: `${prefix}${id}`, agent, description, status, startedAt },
    ...(endedAt !== undefined && { endedAt }),
    ...{ usage, background },
    ...(sessionFile !== undefined && { sessionFile }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

/** The messages after an entry, and the id of the last one. */
export function messagesOf(
  entries: readonly SessionEntry[],
  since?: string,
): { messages: AgentMessage[]; lastEntryId?: string } {
  const first = since === undefined ? 0 : entries.findIndex(({ id }) => id === since) + 1;
  const found = (entries.slice(first) as readonly KnownSessionEntry[]).flatMap((entry) =>
    entry.type === "message" ? [{ id: entry.id, message: entry.message as AgentMessage }] : [],
  );
  const last = found.at(-1);
  return {
    messages: found.map(({ message }) => message),
    ...(last === undefined ? {} : { lastEntryId: last.id }),
  };
}

/**
 * The file of a subagent, even if its host was killed before it could record it; undefined if the file is on another
 * machine.
 */
export async function fileOf(record: SubagentRecord): Promise<string | undefined> {
  const { sessionFile, directory, agent, id } = record;
  if (sessionFile !== undefined) return existsSync(sessionFile) ? sessionFile : undefined;
  if (directory === undefined) return undefined;
  const name = `${agent}: ${id}`;
  const files = await readdir(directory).catch(() => []);
  for (const file of files
    .filter((found) => found.endsWith(".jsonl"))
    .sort()
    .reverse()) {
    const path = join(directory, file);
    if (nameOf(await readConversation(path)) === name) return path;
  }
  return undefined;
}

function nameOf(conversation: WrittenConversation | undefined): string | undefined {
  const entries = (conversation?.entries ?? []) as readonly KnownSessionEntry[];
  const named = entries.findLast((entry) => entry.type === "session_info");
  return named?.type === "session_info" ? named.name : undefined;
}
