import type { HostFrame } from "../frame.ts";
import type { SessionEvent } from "../session-event.ts";
import type { Dialect, DialectFrame } from "./dialect.ts";

/**
 * What the family's releases since 1.0 speak: as the default, with a `disposition` in the answer to a
 * prompt, replies streamed as deltas, the output of `bash` streamed, and one pair of events for every
 * compaction.
 */
export const pi1: Dialect = {
  name: "pi-1",
  habits: { streamForm: "delta", repeatsUsage: true, hasAdditions: true, streamsBash: true },
  encode,
};

function encode(frame: HostFrame): readonly DialectFrame[] {
  switch (frame.type) {
    case "auto_compaction_start":
      return [{ type: "compaction_start", reason: frame.reason } as DialectFrame];
    case "auto_compaction_end":
    case "compaction_end":
      return [compactionEnd(frame)];
    default:
      return [frame];
  }
}

/** One that brought nothing has no `result`. */
function compactionEnd(
  frame: Extract<SessionEvent, { type: `${string}compaction_end` }>,
): DialectFrame {
  const { type: _, reason, result, ...rest } = frame;
  const end = { type: "compaction_end", reason, ...(result === null ? {} : { result }), ...rest };
  return end;
}
