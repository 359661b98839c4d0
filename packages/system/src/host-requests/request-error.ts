import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** An answer to a host request that is refused; `code` says why. */
export class RequestError extends CodedError {
  override readonly name = "RequestError";
  /** What does not fit, of an `invalid_response`. */
  problem: AnswerProblem | undefined;

  /** The error for an answer that does not fit; the request stays open. */
  static invalid(id: string, problem: AnswerProblem): RequestError {
    const { code, field: member, reason } = problem;
    if (code !== undefined) return new RequestError(code, { member, reason });
    const error = new RequestError("invalid_response", { id, field: member, reason });
    error.problem = problem;
    return error;
  }
}

/** The member of an answer that does not fit. */
export interface AnswerProblem {
  readonly field: string;
  readonly reason: string;
  /** Why the answer is refused, if not for its form. */
  readonly code?: "policy_denied" | undefined;
}
