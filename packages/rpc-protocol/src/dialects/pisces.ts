import type { HostFrame, ResponseFrame } from "../frame.ts";
import type { Dialect, DialectFrame } from "./dialect.ts";

/**
 * As the default, but for what its document says of answers that cannot be matched with a request:
 * an unknown command, and whatever goes wrong while a line is read or handled unexpectedly.
 */
export const pisces: Dialect = {
  name: "pisces",
  encode: (frame) => [frame.type === "response" && !frame.success ? failure(frame) : frame],
};

function failure(frame: ResponseFrame): DialectFrame & HostFrame {
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
