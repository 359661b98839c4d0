import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** An answer to a host request that is refused; `code` says why. */
export class RequestError extends CodedError {
  override readonly name = "RequestError";

  /** The error for an answer that does not fit; the request stays open. */
  static invalid(id: string, { field, reason }: AnswerProblem): RequestError {
    return new RequestError("invalid_response", { id, field, reason });
  }
}

/** The member of an answer that does not fit. */
export interface AnswerProblem {
  readonly field: string;
  readonly reason: string;
}
