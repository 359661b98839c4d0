import type { HostFrame } from "../frame.ts";
import type { ProtocolName } from "./names.ts";

/** A frame as a dialect sends it. */
export interface DialectFrame {
  readonly type: string;
}

/**
 * What one family of clients expects to read. All that any of them sends is understood in every
 * dialect, so there is a map in one direction only.
 */
export interface Dialect {
  readonly name: ProtocolName;
  /**
   * The frames that leave in place of a frame of the host; none when the dialect has no word for it.
   * Responses come with their `code`, whether or not it is to be sent. Pure.
   */
  encode(frame: HostFrame): readonly DialectFrame[];
}
