import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** A session or one of its parts cannot do what was asked; `code` says why. */
export class SessionError extends CodedError {
  override readonly name = "SessionError";
}
