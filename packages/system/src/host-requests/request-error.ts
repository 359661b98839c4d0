import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** An answer to a host request that is refused; `code` says why. */
export class RequestError extends CodedError {
  override readonly name = "RequestError";
  /** What does not fit, of an `invalid_response`. */
  problem: AnswerProblem | undefined;

  /** The error for an answer that does not fit; the request stays open. */
  static invalid(id: string, problem: AnswerProblem): RequestError {
    const error = new RequestError("invalid_response", { id, ...problem });
    error.problem = problem;
    return error;
  }
}

/** The member of an answer that does not fit. */
export interface AnswerProblem {
  readonly field: string;
  readonly reason: string;
}
