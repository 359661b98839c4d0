import { CodedError, type ErrorCode } from "@tau-agent/rpc-protocol";

/** An error that another host has answered with: its code and its own text. */
export class RemoteError extends CodedError {
  override readonly name = "RemoteError";

  constructor(code: ErrorCode, text: string) {
    super(code);
    this.message = text;
  }
}
