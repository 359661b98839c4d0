import type { ClearedResult } from "@tau-agent/sessions/log";

/** What the model reads instead of a result; part of the request prefix, so it never changes. */
export function clearedLine({ entryId, tokens, sameAs }: ClearedResult): string {
  return sameAs === undefined
    ? `[Cleared: entry ${entryId}, about ${tokens} tokens]`
    : `[Unchanged: same output as the earlier identical call, entry ${sameAs}]`;
}
