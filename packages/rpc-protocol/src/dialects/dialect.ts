import type { HostRequestMethod } from "../vocabulary/constants.ts";
import type {
  ExtensionUiRequest,
  ExtensionUiResponse,
  OpenUrlNotice,
} from "../vocabulary/extension-ui.ts";
import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { OpenHostRequest } from "../vocabulary/host-request.ts";
import type { StreamForm } from "../vocabulary/stream-event.ts";

/** A frame in the form that a dialect sends. */
export interface DialectFrame {
  readonly type: string;
}

/** Context for encoding a frame. */
export interface FrameContext {
  /** Whether the client has sent `initialize` and therefore accepts members that no document shows. */
  readonly isInitialized: boolean;
  /** Whether a response's `data` is such a member. */
  readonly addsData?: boolean;
  /** Whether nothing is running or waiting in the session. */
  readonly isSettled?: boolean;
}

/** How a dialect presents host requests as dialogs to clients that do not know them. Pure. */
export interface RequestDialogs {
  /** The methods that a dialog can express. */
  readonly methods: readonly HostRequestMethod[];
  /** The dialog of a request; undefined if no dialog can express it. */
  asDialog(request: OpenHostRequest, now: number): ExtensionUiRequest | OpenUrlNotice | undefined;
  /** Converts the answer to that dialog to an answer to the request. */
  resultOfDialog(
    request: OpenHostRequest,
    response: Omit<ExtensionUiResponse, "type" | "id">,
  ): unknown;
  /** The methods that count as answered once the client has been shown them. */
  readonly notices?: readonly HostRequestMethod[];
  /** Whether `host_request_resolved` is sent when a dialog ends without its answer. */
  readonly reportsEnd: boolean;
}

/**
 * The frames that one group of clients expects. Commands have the same form in every dialect, so dialects only encode.
 */
export interface DialectRules {
  /** The first frame, sent if the dialect was chosen at the start instead of by `initialize`. */
  readonly greeting?: DialectFrame;
  /** How replies are streamed until the client requests a form; `full` if absent. */
  readonly streamForm?: StreamForm;
  /** Whether, in the form `delta`, every step has `usage`, not only those that change it. */
  readonly repeatsUsage?: boolean;
  /** Whether `bash` streams its output unless the command says otherwise. */
  readonly streamsBash?: boolean;
  /** How clients that do not know host requests are asked; absent if they cannot be. */
  readonly requestDialogs?: RequestDialogs;
  /**
   * The frames to send for a frame of the host; none if the dialect cannot express it. The host's frames are
   * complete; the dialect omits what its clients do not expect. Pure.
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
