import type { SessionEntry } from "@tau-agent/rpc-protocol";

/** Where `read_entry` finds entries. */
export interface EntryReader {
  /** The entry of this id in the session. */
  entry(id: string): SessionEntry | undefined;
}
