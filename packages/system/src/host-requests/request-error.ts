import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** An answer to a host request that is refused; `code` says why. */
export class RequestError extends CodedError {
  override readonly name = "RequestError";
  /** The invalid member, for `invalid_response`. */
  problem: AnswerProblem | undefined;

  /** The error for an invalid answer; the request stays open. */
  static invalid(id: string, problem: AnswerProblem): RequestError {
    const { code, field: member, reason } = problem;
    if (code !== undefined) return new RequestError(code, { member, reason });
    const error = new RequestError("invalid_response", { id, field: member, reason });
    error.problem = problem;
    return error;
  }
}

/** The invalid member of an answer. */
export interface AnswerProblem {
  readonly field: string;
  readonly reason: string;
  /** Set if the answer is refused for another reason than its form. */
  readonly code?: "policy_denied" | undefined;
}
