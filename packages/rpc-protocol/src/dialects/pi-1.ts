import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import {
  type DialectFrame,
  type DialectRules,
  documentedResponse,
  type FrameContext,
  withoutAddition,
} from "./dialect.ts";
import { asDialog, dialogMethods, resultOfDialog } from "./request-dialogs.ts";

/**
 * The protocol of pi since release 1.0. It differs from the default: the answer to a prompt has a `disposition`,
 * replies are streamed as deltas, the output of `bash` is streamed, and one pair of events reports every compaction.
 */
export const pi1: DialectRules = {
  streamForm: "delta",
  repeatsUsage: true,
  streamsBash: true,
  requestDialogs: { methods: dialogMethods, asDialog, resultOfDialog, reportsEnd: true },
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
      return [answer(documentedResponse(frame, { isInitialized }), isInitialized)];
    case "queue_update":
      return [isInitialized ? frame : withoutAddition(frame)];
    default:
      return [frame];
  }
}

/** Its document shows only the disposition of a prompt. */
function answer(frame: ResponseFrame, isInitialized: boolean): ResponseFrame {
  if (isInitialized || frame.data === undefined || frame.data === null) return frame;
  if (typeof frame.data !== "object" || !("disposition" in frame.data)) return frame;
  return { ...frame, data: { disposition: frame.data.disposition } };
}

/** A compaction without a summary has no `result`. */
function compactionEnd(
  frame: Extract<SessionEvent, { type: `${string}compaction_end` }>,
): DialectFrame {
  const { type: _, reason, result, ...rest } = frame;
  const end = { type: "compaction_end", reason, ...(result === null ? {} : { result }), ...rest };
  return end;
}
