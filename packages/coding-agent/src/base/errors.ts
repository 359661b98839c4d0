import type { ErrorCode } from "@tau-agent/rpc-protocol";
import { errorText } from "@tau-agent/rpc-protocol/plain";

/** A session or one of its parts cannot do what was asked; `code` says why. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: ErrorCode;

  /** `values` fill the placeholders of the code's text. */
  constructor(
    code: ErrorCode,
    values: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(errorText(code, values), options);
    this.code = code;
  }
}
