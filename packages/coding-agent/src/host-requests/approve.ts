import type { ApprovalParams, ApprovalResult, PendingRequest } from "@tau-agent/rpc-protocol";
import type { HostRequests, RequestSink } from "./host-requests.ts";
import { RequestError } from "./request-error.ts";

/** An approval as a function gets it. */
export interface ApprovalRequest extends ApprovalParams {
  readonly id: string;
  readonly toolCallId?: string | undefined;
  readonly promptId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly deadlineAt?: number | undefined;
}

/**
 * Decides whether a tool may run. What it throws, and anything but a result, denies. The signal is
 * aborted when the question has ended in another way.
 */
export type Approve = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalResult | Promise<ApprovalResult>;

/** Asks a function about approvals. */
export function approveSink(approve: Approve, requests: HostRequests): RequestSink {
  const open = new Map<string, AbortController>();
  const decide = async (request: PendingRequest, signal: AbortSignal): Promise<void> => {
    if (request.method !== "tool_approval") return;
    const { params, id, toolCallId, promptId, agentId, deadlineAt } = request;
    const given = { ...params, id, toolCallId, promptId, agentId, deadlineAt };
    let answer: { result: unknown } | { error: string };
    try {
      answer = { result: await approve(given, { signal }) };
    } catch (error) {
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    if (requests.get(id) === undefined) return;
    try {
      requests.answer(id, answer);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      requests.answer(id, { error: error.message });
    }
  };
  return {
    answers: (method) => method === "tool_approval",
    open: (request) => {
      if (open.has(request.id)) return true;
      const controller = new AbortController();
      open.set(request.id, controller);
      // Not within the request: an answer at once would find it half open.
      queueMicrotask(() => void decide(request, controller.signal));
      return true;
    },
    closed: ({ id }, resolved) => {
      open.get(id)?.abort(resolved);
      open.delete(id);
    },
  };
}

/** Several places to ask; the first that answers a method is asked. */
export function firstSink(sinks: readonly RequestSink[]): RequestSink {
  const sinkOf = (method: PendingRequest["method"]) => sinks.find((sink) => sink.answers(method));
  return {
    answers: (method) => sinks.some((sink) => sink.answers(method)),
    open: (request) => sinkOf(request.method)?.open(request) ?? false,
    closed: (request, resolved) => sinkOf(request.method)?.closed(request, resolved),
  };
}
