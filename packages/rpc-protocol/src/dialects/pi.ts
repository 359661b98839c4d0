import type { HostFrame } from "../vocabulary/host-frame.ts";
import { type DialectFrame, type DialectRules, documented, type FrameContext } from "./dialect.ts";
import { asDialog, dialogMethods, resultOfDialog } from "./request-dialogs.ts";

/**
 * The default: sends the host's frames unchanged. Older releases of pi call an automatic compaction
 * `auto_compaction_*`, newer ones `compaction_*`. Both are sent, because each client knows only one of them.
 * A client that sends `initialize` belongs to neither group and gets only the former.
 */
export const pi: DialectRules = {
  encode,
  requestDialogs: { methods: dialogMethods, asDialog, resultOfDialog, reportsEnd: true },
};

function encode(frame: HostFrame, context: FrameContext): readonly DialectFrame[] {
  if (context.isInitialized) return [frame];
  switch (frame.type) {
    case "auto_compaction_start":
      return [frame, { ...frame, type: "compaction_start" }];
    case "auto_compaction_end":
      return [documented(frame, context), { ...frame, type: "compaction_end" }];
    default:
      return [documented(frame, context)];
  }
}
