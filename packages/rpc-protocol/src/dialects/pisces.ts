import type { ResponseFrame } from "../vocabulary/host-frame.ts";
import { type DialectRules, documented } from "./dialect.ts";
import { asDialog, dialogMethods, resultOfDialog } from "./request-dialogs.ts";

/**
 * Differs from the default only in answers that cannot be matched with a request: those to an unknown
 * command, and those to errors while a line is read or handled.
 */
export const pisces: DialectRules = {
  // Its published client sends nothing before it has received this frame.
  greeting: { type: "ready" },
  requestDialogs: { methods: dialogMethods, asDialog, resultOfDialog, reportsEnd: true },
  encode: (frame, context) => {
    const said = frame.type === "response" && !frame.success ? failure(frame) : frame;
    return [documented(said, context)];
  },
};

function failure(frame: ResponseFrame): ResponseFrame {
  const { id: _, ...anonymous } = frame;
  switch (frame.code) {
    case "unknown_command":
      return anonymous;
    case "parse":
    case "internal":
      return { ...anonymous, command: "parse" };
    default:
      return frame;
  }
}
