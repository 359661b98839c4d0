import type {
  HostRequestMethod,
  HostRequestResolved,
  OnTimeout,
  OpenHostRequest,
  PendingRequest,
} from "@tau-agent/rpc-protocol";
import { randomUuid } from "../base/random.ts";
import { SparseMap, SparseSet } from "../base/sparse.ts";
import { MAX_TIMER_MS } from "../base/timer-limit.ts";
import { type AnswerProblem, RequestError } from "./request-error.ts";

/** How many closed requests are remembered as closed; an answer to an older one counts as unknown. */
const MAX_KNOWN_CLOSED = 10_000;

export type RequestOutcome = HostRequestResolved["outcome"];

/** What ended a request; `nobody` if no one could be asked. */
export type ClosedBy = HostRequestResolved["by"] | "nobody";

export interface ClosedRequest<Result> {
  readonly by: ClosedBy;
  readonly outcome: RequestOutcome;
  /** The client's answer, if there is one. */
  readonly result?: Result | undefined;
  /** Why the client gave no result. */
  readonly error?: string | undefined;
  /** Whether the program that was asked failed, so that nothing was decided. */
  readonly isFailed?: boolean | undefined;
}

/** An answer as received: a result, the client's reason for giving none, or the fact that the client failed. */
export type GivenAnswer =
  | { readonly result: unknown }
  | { readonly error: string }
  | { readonly isFailed: true };

/** The parts of a request that its caller supplies. */
export interface RequestOrder<Result> {
  /** The id of a request that was asked before; by default a new one. */
  readonly id?: string | undefined;
  readonly method: OpenHostRequest["method"];
  readonly params: OpenHostRequest["params"];
  readonly promptId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly onTimeout: OnTimeout;
  /** How long to wait for an answer; 0 or absent for no limit. */
  readonly timeoutMs?: number | undefined;
  /** Withdraws the request: as its reason says if that is a {@link Withdrawal}, otherwise by `abort`. */
  readonly signal?: AbortSignal | undefined;
  /** The outcome unless an answer sets another. */
  readonly unanswered: RequestOutcome;
  /** Receives the client's progress reports while it works on the answer. */
  readonly onUpdate?: ((partial: unknown) => void) | undefined;
  readonly read: (result: unknown) => Answer<Result>;
}

/** A valid answer with its outcome, or the invalid member. */
export type Answer<Result> =
  | { readonly result: Result; readonly outcome: RequestOutcome }
  | AnswerProblem;

/** Why a request is withdrawn, if not by an abort, and its outcome. */
export class Withdrawal {
  readonly by: HostRequestResolved["by"];
  readonly outcome: RequestOutcome | undefined;

  constructor(by: HostRequestResolved["by"], outcome?: RequestOutcome) {
    this.by = by;
    this.outcome = outcome;
  }
}

/** The party that answers requests: the connection of a client, or a function of the embedder. */
export interface RequestSink {
  /** Whether a request of this method would be answered. */
  answers(method: HostRequestMethod): boolean;
  /** Shows a request; false if that is impossible after all. */
  open(request: OpenHostRequest): boolean;
  /** A request that was shown has ended. */
  closed(request: OpenHostRequest, resolved: HostRequestResolved): void;
}

interface OpenRequest {
  readonly request: OpenHostRequest;
  readonly read: (result: unknown) => Answer<unknown>;
  readonly unanswered: RequestOutcome;
  readonly onUpdate: ((partial: unknown) => void) | undefined;
  readonly close: (closed: ClosedRequest<unknown>) => void;
}

/**
 * All requests of a session to its client. Each has one id, one deadline and one end; the first
 * answer counts. A request that no client can answer ends immediately, and never with approval.
 */
export class HostRequests {
  readonly #open = new SparseMap<string, OpenRequest>();
  readonly #closed = new SparseSet<string>();
  readonly #listeners = new SparseSet<() => void>();
  #sink: RequestSink | undefined;
  #isEnded = false;

  /** The open requests, oldest first, without requests for keys. */
  get pending(): readonly PendingRequest[] {
    return [...this.#open.values()].flatMap(({ request }) =>
      request.method === "credential" ? [] : [request],
    );
  }

  /** The ids of the open requests, oldest first. */
  get ids(): string[] {
    return this.#open.size === 0 ? [] : this.pending.map(({ id }) => id);
  }

  /** The number of open requests. */
  get size(): number {
    return this.ids.length;
  }

  /** An open request; undefined for any other id. */
  get(id: string): OpenHostRequest | undefined {
    return this.#open.get(id)?.request;
  }

  /** Whether someone answers requests of this method. */
  isAnswered(method: HostRequestMethod): boolean {
    return !this.#isEnded && this.#sink?.answers(method) === true;
  }

  /** Uses this sink from now on and shows it the open requests; returns a function that detaches it. */
  attach(sink: RequestSink): () => void {
    this.#sink = sink;
    this.show();
    return () => {
      if (this.#sink === sink) this.#sink = undefined;
    };
  }

  /** Shows every open request again; those that can no longer be answered end. */
  show(): void {
    for (const [id, { request }] of [...this.#open]) {
      if (this.#open.has(id) && !this.#isStillAsked(request)) this.#give(id, "timeout");
    }
  }

  /** Requests for keys are not shown again. */
  #isStillAsked(request: OpenHostRequest): boolean {
    return request.method === "credential" ? this.isAnswered(request.method) : this.#show(request);
  }

  /** Calls the listener whenever a request opens or ends. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Asks, and resolves when the request has ended in any way. */
  ask<Result>(order: RequestOrder<Result>): Promise<ClosedRequest<Result>> {
    const { signal, unanswered: outcome } = order;
    const early = this.#refusal(order);
    if (early !== undefined) return Promise.resolve({ outcome, ...early });
    const request = requestOf(order);
    const { id, deadlineAt } = request;
    return new Promise((resolve) => {
      const clear = startDeadline(deadlineAt, () => this.#give(id, "timeout"));
      const withdraw = (): void => this.withdraw(id, withdrawalOf(signal));
      this.#open.set(id, {
        request,
        read: order.read,
        unanswered: outcome,
        onUpdate: order.onUpdate,
        close: (closed) => {
          clear();
          signal?.removeEventListener("abort", withdraw);
          resolve(closed as ClosedRequest<Result>);
        },
      });
      signal?.addEventListener("abort", withdraw, { once: true });
      this.#changed();
      if (!this.#show(request)) this.#end(id, { by: "nobody", outcome });
    });
  }

  /**
   * Takes an answer.
   *
   * @throws {RequestError} `request_not_found`, `request_closed`, `invalid_response`; an open request stays open
   */
  answer(id: string, answer: GivenAnswer): void {
    const open = this.#find(id);
    if (!("result" in answer)) {
      this.#end(id, { by: "client", outcome: open.unanswered, ...answer });
      return;
    }
    const read = open.read(answer.result);
    if ("field" in read) throw RequestError.invalid(id, read);
    this.#end(id, { by: "client", outcome: read.outcome, result: read.result });
  }

  /**
   * Takes a progress report on an answer.
   *
   * @throws {RequestError} `request_not_found`, `request_closed`
   */
  update(id: string, partial: unknown): void {
    this.#find(id).onUpdate?.(partial);
  }

  /** Withdraws a request. */
  withdraw(id: string, { by, outcome }: Withdrawal): void {
    const open = this.#open.get(id);
    if (open !== undefined) this.#end(id, { by, outcome: outcome ?? open.unanswered });
  }

  /** Withdraws all requests that match the filter. */
  withdrawAll(withdrawal: Withdrawal, filter = (_: OpenHostRequest): boolean => true): void {
    for (const { request } of [...this.#open.values()]) {
      if (filter(request)) this.withdraw(request.id, withdrawal);
    }
  }

  /** Ends all open requests and refuses new ones, because the session ends. */
  end(): void {
    this.#isEnded = true;
    this.withdrawAll(new Withdrawal("end"));
  }

  /** Whether the session has ended. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  #refusal({
    signal,
    method,
  }: Pick<RequestOrder<unknown>, "signal" | "method">):
    | { by: ClosedBy; outcome?: RequestOutcome }
    | undefined {
    if (this.#isEnded) return { by: "end" };
    if (signal?.aborted) {
      const { by, outcome } = withdrawalOf(signal);
      return { by, ...(outcome === undefined ? {} : { outcome }) };
    }
    return this.isAnswered(method) ? undefined : { by: "nobody" };
  }

  #show(request: OpenHostRequest): boolean {
    return this.isAnswered(request.method) && this.#sink?.open(request) === true;
  }

  #find(id: string): OpenRequest {
    const open = this.#open.get(id);
    if (open !== undefined) return open;
    throw new RequestError(this.#closed.has(id) ? "request_closed" : "request_not_found", { id });
  }

  #give(id: string, by: "timeout"): void {
    const open = this.#open.get(id);
    if (open !== undefined) this.#end(id, { by, outcome: open.unanswered });
  }

  #end(id: string, closed: ClosedRequest<unknown>): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    this.#noteClosed(id);
    const { by, outcome } = closed;
    if (by !== "nobody") {
      this.#sink?.closed(open.request, { type: "host_request_resolved", id, by, outcome });
    }
    open.close(closed);
    this.#changed();
  }

  #noteClosed(id: string): void {
    this.#closed.add(id);
    const [oldest] = this.#closed;
    if (this.#closed.size > MAX_KNOWN_CLOSED && oldest !== undefined) this.#closed.delete(oldest);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function requestOf(order: RequestOrder<unknown>): OpenHostRequest {
  const { id = randomUuid(), promptId, toolCallId, agentId, timeoutMs, method, params } = order;
  const hasDeadline = timeoutMs !== undefined && timeoutMs > 0 && Number.isFinite(timeoutMs);
  return {
    id,
    method,
    ...(promptId === undefined ? {} : { promptId }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(hasDeadline ? { deadlineAt: Date.now() + Math.round(timeoutMs) } : {}),
    onTimeout: order.onTimeout,
    params,
  } as OpenHostRequest;
}

function withdrawalOf(signal: AbortSignal | undefined): Withdrawal {
  const reason: unknown = signal?.reason;
  if (reason instanceof Withdrawal) return reason;
  // The outcome of the same request where it was first asked.
  if (!isResolved(reason) || reason.by === "client") return new Withdrawal("abort");
  return new Withdrawal(reason.by, reason.outcome);
}

function isResolved(reason: unknown): reason is HostRequestResolved {
  return Object(reason).type === "host_request_resolved";
}

/**
 * A timer for any delay: those of the system run for at most 24 days. Changes to the system clock do not affect it.
 */
function startDeadline(at: number | undefined, onOver: () => void): () => void {
  if (at === undefined) return () => {};
  const end = performance.now() + at - Date.now();
  const wait = (): void => {
    const left = end - performance.now();
    // Timers of the system are in whole milliseconds.
    if (left < 1) onOver();
    else timer = setTimeout(wait, Math.min(left, MAX_TIMER_MS));
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(wait, Math.min(at - Date.now(), MAX_TIMER_MS));
  return () => clearTimeout(timer);
}
