import type { SessionEntry } from "@tau-agent/rpc-protocol";

/** Where `read_entry` finds entries. */
export interface EntryReader {
  /** The session's entry with this id. */
  entry(id: string): SessionEntry | undefined;
}
