import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { Consumption } from "./consumption.ts";
import { migrateEntries, type RawSession } from "./entries/migrate.ts";
import { readSessionFile } from "./file/read-session-file.ts";
import { SessionTotals } from "./session-totals.ts";

/** The conversation of another session as written, and its consumption. */
export interface WrittenConversation {
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
  readonly totals: { readonly consumption: Consumption; readonly runTimeMs: number };
}

/** Reads a session's file without opening the session; undefined if it cannot be read. */
export async function readConversation(path: string): Promise<WrittenConversation | undefined> {
  const { header, entries } = await readSessionFile(path).catch(() => ({
    header: undefined,
    entries: [],
  }));
  return header && conversationOf({ header, entries });
}

/** The same for lines that do not come from a file. */
export function conversationOf(session: RawSession): WrittenConversation {
  const entries = migrateEntries(session);
  const totals = new SessionTotals();
  for (const entry of entries) totals.add(entry);
  return { header: session.header, entries, totals };
}
