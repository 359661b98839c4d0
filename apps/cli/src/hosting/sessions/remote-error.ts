import { CodedError, type ErrorCode } from "@tau-agent/rpc-protocol";

/** An error response of another host, with its code and text. */
export class RemoteError extends CodedError {
  override readonly name = "RemoteError";

  constructor(code: ErrorCode, text: string) {
    super(code);
    this.message = text;
  }
}
