import type { HostRequestMethod } from "../vocabulary/constants.ts";
import type {
  ExtensionUiRequest,
  ExtensionUiResponse,
  OpenUrlNotice,
} from "../vocabulary/extension-ui.ts";
import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { OpenHostRequest } from "../vocabulary/host-request.ts";
import type { StreamForm } from "../vocabulary/stream-event.ts";

/** A frame as a dialect sends it. */
export interface DialectFrame {
  readonly type: string;
}

/** What a dialect knows of the frame it encodes besides the frame. */
export interface FrameContext {
  /** Whether the client has sent `initialize`, and so accepts members that no document shows. */
  readonly isInitialized: boolean;
  /** Whether a response's `data` is such a member. */
  readonly addsData?: boolean;
  /** Whether nothing runs and nothing waits in the session. */
  readonly isSettled?: boolean;
}

/** How a dialect puts host requests to clients that do not know them: as dialogs. Pure. */
export interface RequestDialogs {
  /** The requests that a dialog can express. */
  readonly methods: readonly HostRequestMethod[];
  /** The dialog of a request; undefined if no dialog can express it. */
  asDialog(request: OpenHostRequest, now: number): ExtensionUiRequest | OpenUrlNotice | undefined;
  /** What the answer to that dialog says to the request. */
  resultOfDialog(
    request: OpenHostRequest,
    response: Omit<ExtensionUiResponse, "type" | "id">,
  ): unknown;
  /** Those that count as answered once the client has been shown them. */
  readonly notices?: readonly HostRequestMethod[];
  /** Whether `host_request_resolved` says that a dialog ended otherwise than by its answer. */
  readonly reportsEnd: boolean;
}

/**
 * What one group of clients expects to read. Commands are understood the same way in every
 * dialect, so there is a map in one direction only.
 */
export interface DialectRules {
  /** Sent before everything else when the dialect was chosen at the start, not by `initialize`. */
  readonly greeting?: DialectFrame;
  /** How replies are streamed until the client asks for a form; `full` if absent. */
  readonly streamForm?: StreamForm;
  /** In the form `delta`, every step has `usage`, not only those that change it. */
  readonly repeatsUsage?: boolean;
  /** `bash` streams its output unless the command says otherwise. */
  readonly streamsBash?: boolean;
  /** How clients that do not know host requests are asked; absent if they cannot be. */
  readonly requestDialogs?: RequestDialogs;
  /**
   * The frames that leave in place of a frame of the host; none if the dialect cannot express it.
   * Frames come with everything the host knows; the dialect leaves out what its clients do not
   * expect. Pure.
   */
  encode(frame: HostFrame, context: FrameContext): readonly DialectFrame[];
}

/** The members of events that the documents do not show. */
const additions: { readonly [Type in HostFrame["type"]]?: string } = {
  agent_end: "willRetry",
  auto_compaction_end: "reason",
  queue_update: "items",
};

/** A frame without the members that the documents do not show, unless the client accepts them. */
export function documented(frame: HostFrame, context: FrameContext): HostFrame {
  if (context.isInitialized) return frame;
  return frame.type === "response" ? documentedResponse(frame, context) : withoutAddition(frame);
}

/** An event without the member that its document does not show. */
export function withoutAddition<Frame extends HostFrame>(frame: Frame): Frame {
  const name = additions[frame.type];
  if (name === undefined || !(name in frame)) return frame;
  return Object.fromEntries(Object.entries(frame).filter(([key]) => key !== name)) as Frame;
}

/** The same for a response. */
export function documentedResponse(frame: ResponseFrame, context: FrameContext): ResponseFrame {
  if (context.isInitialized) return frame;
  const { code: _, data, ...shown } = frame;
  return data === undefined || context.addsData === true ? shown : { ...shown, data };
}
