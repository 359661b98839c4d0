import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { type ResultView, resultKey } from "@tau-agent/sessions/log";
import { clearedLine } from "../user-input/cleared-line.ts";

/**
 * An entry with what the model still reads of it. A line that says that a result is unchanged is whole
 * again once the earlier one is summarised, so it counts in full.
 */
export function shownEntry(entry: SessionEntry, { cleared }: ResultView): SessionEntry {
  const known = entry as KnownSessionEntry;
  if (cleared.size === 0 || known.type !== "message") return entry;
  const { message } = known;
  const found = message.role === "toolResult" ? cleared.get(resultKey(message)) : undefined;
  if (found === undefined || found.sameAs !== undefined) return entry;
  const content = [{ type: "text", text: clearedLine(found) }];
  return { ...known, message: { ...message, content } } as SessionEntry;
}
