import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { type ResultView, shownAsLine } from "@tau-agent/sessions/log";
import { clearedLine } from "../user-input/cleared-line.ts";

/**
 * An entry as the model sees it. A result that a line marks as unchanged counts in full, because it becomes whole again
 * once the earlier result is summarised.
 */
export function shownEntry(entry: SessionEntry, results: ResultView): SessionEntry {
  const known = entry as KnownSessionEntry;
  if (known.type !== "message") return entry;
  const { message } = known;
  const found = shownAsLine(message, results);
  if (found === undefined || found.sameAs !== undefined) return entry;
  const content = [{ type: "text", text: clearedLine(found) }];
  return { ...known, message: { ...message, content } } as SessionEntry;
}
