import type { ErrorCode } from "./error.ts";
import type { ExtensionUiRequest } from "./extension-ui.ts";
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

/** Any frame a host may send. */
export type HostFrame = ResponseFrame | SessionEvent | ExtensionUiRequest;
