import type { HostRequestMethod, OpenHostRequest } from "@tau-agent/rpc-protocol";
import { type Deciders, deciderOf, errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../base/diagnostic.ts";
import type { HostRequests, RequestSink } from "./host-requests.ts";
import { RequestError } from "./request-error.ts";

/**
 * Puts requests to functions. A function that throws or returns an invalid answer has decided nothing: the
 * request ends without approval, and `note` receives the error.
 */
export function functionSink(
  deciders: Deciders,
  requests: HostRequests,
  note: (diagnostic: Diagnostic) => void,
): RequestSink {
  const open = new Map<string, AbortController>();
  const answer = async (request: OpenHostRequest, signal: AbortSignal): Promise<void> => {
    const { id, method } = request;
    try {
      const result = await deciderOf(deciders, method)?.(request, signal);
      if (requests.get(id) !== undefined) requests.answer(id, { result });
    } catch (error) {
      if (requests.get(id) === undefined) return;
      note(failureOf(method, error));
      requests.answer(id, { isFailed: true });
    }
  };
  return {
    answers: (method) => deciderOf(deciders, method) !== undefined,
    open: (request) => {
      if (open.has(request.id)) return true;
      const controller = new AbortController();
      open.set(request.id, controller);
      // Not synchronously: an immediate answer would find the request only half open.
      queueMicrotask(() => void answer(request, controller.signal));
      return true;
    },
    closed: ({ id }, resolved) => {
      open.get(id)?.abort(resolved);
      open.delete(id);
    },
  };
}

const failures: { readonly [Method in HostRequestMethod]?: typeof approvals } = {
  budget: { name: "raiseBudget", code: "raise_budget_failed", effect: "the work stopped" },
  question: { name: "answerQuestions", code: "answer_failed", effect: "there is no answer" },
};
const approvals = { name: "approve", code: "approve_failed", effect: "the call was denied" };

function failureOf(method: HostRequestMethod, error: unknown): Diagnostic {
  const { name, code, effect } = failures[method] ?? approvals;
  const { field, reason } = (error instanceof RequestError && error.problem) || {};
  const message =
    field === undefined
      ? `${name} failed, so ${effect}: ${errorMessage(error)}`
      : `${name} returned an invalid answer, so ${effect}: ${field}: ${reason}`;
  return { severity: "error", code, message };
}

/** Combines several sinks; the first that answers a method is asked. */
export function firstSink(sinks: readonly RequestSink[]): RequestSink {
  const sinkOf = (method: OpenHostRequest["method"]) => sinks.find((sink) => sink.answers(method));
  return {
    answers: (method) => sinks.some((sink) => sink.answers(method)),
    open: (request) => sinkOf(request.method)?.open(request) ?? false,
    closed: (request, resolved) => sinkOf(request.method)?.closed(request, resolved),
  };
}
