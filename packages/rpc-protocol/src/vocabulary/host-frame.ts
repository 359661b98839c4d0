import type { ErrorCode } from "./error.ts";
import type { ExtensionUiRequest, OpenUrlNotice } from "./extension-ui.ts";
import type {
  HostRequestFrame,
  HostRequestResolved,
  HostToolCall,
  HostToolCancel,
} from "./host-request.ts";
import type { HostUriCancel, HostUriRequest } from "./host-uri.ts";
import type { SessionEvent } from "./session-event.ts";

/** Identifies a request; the response repeats it unchanged. */
export type RequestId = string | number;

/** A response frame; the keys are in the documented order. */
export interface ResponseFrame {
  id?: RequestId;
  type: "response";
  command: string;
  success: boolean;
  data?: unknown;
  error?: string;
  code?: ErrorCode;
}

/** A frame about a host request; sent in every dialect to a client that has asked for it. */
export type RequestFrame =
  | HostRequestFrame
  | HostRequestResolved
  | HostToolCall
  | HostToolCancel
  | HostUriRequest
  | HostUriCancel;

/** Any frame that a dialect encodes. */
export type HostFrame = ResponseFrame | SessionEvent | ExtensionUiRequest | OpenUrlNotice;
