import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { type ResultView, resultKey } from "@tau-agent/sessions/log";
import { clearedLine } from "../user-input/cleared-line.ts";

/**
 * An entry as the model sees it. A result that a line marks as unchanged counts in full, because it becomes whole again
 * once the earlier result is summarised.
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
