import type { ErrorCode } from "./error.ts";
import type { ExtensionUiRequest } from "./extension-ui.ts";
import type { SessionEvent } from "./session-event.ts";

/** What a client may use to tell its requests apart; it comes back as it was sent. */
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

/** What a host may send. */
export type HostFrame = ResponseFrame | SessionEvent | ExtensionUiRequest;
