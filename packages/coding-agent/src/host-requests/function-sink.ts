import type {
  Approve,
  HostRequestMethod,
  PendingRequest,
  RaiseBudget,
} from "@tau-agent/rpc-protocol";
import type { HostRequests, RequestSink } from "./host-requests.ts";
import { RequestError } from "./request-error.ts";

/** The functions of an embedder that answer requests. */
export interface Deciders {
  readonly approve?: Approve | undefined;
  readonly raiseBudget?: RaiseBudget | undefined;
}

/** Asks functions. */
export function functionSink(deciders: Deciders, requests: HostRequests): RequestSink {
  const open = new Map<string, AbortController>();
  const answer = async (request: PendingRequest, signal: AbortSignal): Promise<void> => {
    const { id } = request;
    let answer: { result: unknown } | { error: string };
    try {
      answer = { result: await decide(deciders, request, signal) };
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
    answers: (method) => deciderOf(deciders, method) !== undefined,
    open: (request) => {
      if (open.has(request.id)) return true;
      const controller = new AbortController();
      open.set(request.id, controller);
      // Not within the request: an answer at once would find it half open.
      queueMicrotask(() => void answer(request, controller.signal));
      return true;
    },
    closed: ({ id }, resolved) => {
      open.get(id)?.abort(resolved);
      open.delete(id);
    },
  };
}

function deciderOf({ approve, raiseBudget }: Deciders, method: HostRequestMethod): unknown {
  if (method === "tool_approval") return approve;
  return method === "budget" ? raiseBudget : undefined;
}

function decide(
  { approve, raiseBudget }: Deciders,
  request: PendingRequest,
  signal: AbortSignal,
): unknown {
  const { id, toolCallId, promptId, agentId, deadlineAt } = request;
  const asked = { id, toolCallId, promptId, agentId, deadlineAt };
  if (request.method === "tool_approval") {
    return approve?.({ ...request.params, ...asked }, { signal });
  }
  if (request.method === "budget")
    return raiseBudget?.({ ...request.params, ...asked }, { signal });
  return undefined;
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
