import { errorMessage } from "@tau-agent/rpc-protocol/plain";

/** Why something of the extension system was refused; also a cause for an extension's own code. */
export type ExtensionErrorCode =
  | "load_failed"
  | "invalid_registration"
  | "not_ready"
  | "stale"
  | "not_supported"
  | "handler_failed";

/** An extension asked for something that cannot be, or failed itself; `code` says which. */
export class ExtensionError extends Error {
  override readonly name = "ExtensionError";
  readonly code: ExtensionErrorCode;

  constructor(code: ExtensionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The text of anything thrown. */
export const reasonOf = errorMessage;
