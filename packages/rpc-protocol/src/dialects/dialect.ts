import type { StreamForm } from "../commands/connection.ts";
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
  /** What its clients count on without asking; `initialize` may ask for something else. */
  readonly habits?: {
    /** How replies are streamed; `full` unless it says so. */
    readonly streamForm?: StreamForm;
    /** In the form `delta`, every step has `usage`, not only those that change it. */
    readonly repeatsUsage?: boolean;
    /** Members that others get after `initialize`, but for the `code` of errors. */
    readonly hasAdditions?: boolean;
    /**
     * Before `initialize`, the start of a tool call is without `id` and `toolName`, which stand in its
     * `partial`: the document prints the step whole.
     */
    readonly hasBareToolCallStart?: boolean;
    /** The output of a direct `bash` is streamed. */
    readonly streamsBash?: boolean;
  };
  /**
   * The frames that leave in place of a frame of the host; none when the dialect has no word for it.
   * Responses come with their `code`, whether or not it is to be sent. Pure.
   */
  encode(frame: HostFrame): readonly DialectFrame[];
}
