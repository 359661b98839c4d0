import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import {
  type DialectFrame,
  type DialectRules,
  documentedResponse,
  type FrameContext,
} from "./dialect.ts";

/**
 * What pi speaks since release 1.0: as the default, with a `disposition` in the answer to a
 * prompt, replies streamed as deltas, the output of `bash` streamed, and one pair of events for every
 * compaction.
 */
export const pi1: DialectRules = {
  streamForm: "delta",
  repeatsUsage: true,
  streamsBash: true,
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
      return [response(documentedResponse(frame, { isInitialized }))];
    default:
      return [frame];
  }
}

function response(frame: ResponseFrame): DialectFrame {
  return frame.command === "get_commands" && frame.success ? withSources(frame) : frame;
}

/** A compaction without a summary has no `result`. */
function compactionEnd(
  frame: Extract<SessionEvent, { type: `${string}compaction_end` }>,
): DialectFrame {
  const { type: _, reason, result, ...rest } = frame;
  const end = { type: "compaction_end", reason, ...(result === null ? {} : { result }), ...rest };
  return end;
}

const scopes = { user: "user", project: "project", path: "temporary" } as const;

interface Command {
  readonly path?: string;
  readonly location?: keyof typeof scopes;
}

/** The origin of a command has an object of its own. */
function withSources(frame: ResponseFrame): DialectFrame {
  const { commands } = frame.data as { commands: readonly Command[] };
  const described = commands.map((command) => {
    const { path = "", location = "path" } = command;
    const source = location === "path" ? "cli" : "auto";
    const sourceInfo = { path, source, scope: scopes[location], origin: "top-level" };
    return { ...command, sourceInfo };
  });
  return { ...frame, data: { commands: described } } as DialectFrame;
}
