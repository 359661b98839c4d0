import { errorMessage } from "@tau-agent/rpc-protocol/plain";

/** Why the extension system refused something, or that an extension's own code failed. */
export type ExtensionErrorCode =
  | "load_failed"
  | "invalid_registration"
  | "not_ready"
  | "stale"
  | "not_supported"
  | "handler_failed";

/** An invalid request of an extension, or a failure in it; `code` says which. */
export class ExtensionError extends Error {
  override readonly name = "ExtensionError";
  readonly code: ExtensionErrorCode;

  constructor(code: ExtensionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of any thrown value. */
export const reasonOf = errorMessage;
