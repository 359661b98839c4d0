import type { ClearedResult } from "@tau-agent/sessions/log";

/** The line that replaces a result for the model; it is part of the request prefix, so it never changes. */
export function clearedLine({ entryId, tokens, sameAs }: ClearedResult): string {
  return sameAs === undefined
    ? `[Cleared: entry ${entryId}, about ${tokens} tokens]`
    : `[Unchanged: same output as the earlier identical call, entry ${sameAs}]`;
}
