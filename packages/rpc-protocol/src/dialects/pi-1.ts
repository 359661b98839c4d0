import type { HostFrame } from "../vocabulary/host-frame.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import {
  type DialectFrame,
  type DialectRules,
  documentedResponse,
  type FrameContext,
} from "./dialect.ts";
import { asDialog, resultOfDialog } from "./request-dialogs.ts";

/**
 * What pi speaks since release 1.0: as the default, with a `disposition` in the answer to a
 * prompt, replies streamed as deltas, the output of `bash` streamed, and one pair of events for every
 * compaction.
 */
export const pi1: DialectRules = {
  streamForm: "delta",
  repeatsUsage: true,
  streamsBash: true,
  requestDialogs: { asDialog, resultOfDialog, reportsEnd: true },
  encode,
};

/** Sends every addition from the start, except the `code` of errors. */
function encode(frame: HostFrame, { isInitialized }: FrameContext): readonly DialectFrame[] {
  switch (frame.type) {
    case "auto_compaction_start":
      return [{ type: "compaction_start", reason: frame.reason } as DialectFrame];
    case "auto_compaction_end":
    case "compaction_end":
      return [compactionEnd(frame)];
    case "response":
      return [documentedResponse(frame, { isInitialized })];
    default:
      return [frame];
  }
}

/** A compaction without a summary has no `result`. */
function compactionEnd(
  frame: Extract<SessionEvent, { type: `${string}compaction_end` }>,
): DialectFrame {
  const { type: _, reason, result, ...rest } = frame;
  const end = { type: "compaction_end", reason, ...(result === null ? {} : { result }), ...rest };
  return end;
}
