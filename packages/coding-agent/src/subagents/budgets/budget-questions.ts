import type { BudgetResult, BudgetViolationReason } from "@tau-agent/rpc-protocol";
import {
  type HostRequests,
  type RequestOutcome,
  randomUuid,
  SparseMap,
  Withdrawal,
} from "@tau-agent/system";
import type { BudgetQuestion, BudgetStep } from "./budget-question.ts";

/** Who is asked about a budget, and on whose behalf. */
export interface BudgetQuestionsOptions {
  readonly requests: HostRequests;
  /** How long a question waits, in ms; 0 for no limit. */
  readonly timeoutMs: () => number;
  readonly promptId: () => string | undefined;
  /** Aborts with the current work. */
  readonly signal: () => AbortSignal | undefined;
}

/** How a question about a budget ended; `gone` if it was withdrawn unanswered. */
export type BudgetDecision = BudgetResult | "raised" | "gone";

interface OpenQuestion {
  readonly id: string;
  readonly decision: Promise<BudgetDecision>;
}

/** The questions about raising limits: one for each limit, however many steps wait for it. */
export class BudgetQuestions {
  readonly #options: BudgetQuestionsOptions;
  readonly #open = new SparseMap<BudgetViolationReason, OpenQuestion>();

  constructor(options: BudgetQuestionsOptions) {
    this.#options = options;
  }

  get isAnswered(): boolean {
    return this.#options.requests.isAnswered("budget");
  }

  /** Calls the listener when the first question of any kind opens, and when the last one ends. */
  onWaiting(listener: (isWaiting: boolean) => void): void {
    const { requests } = this.#options;
    let wasWaiting = false;
    requests.onChange(() => {
      const isWaiting = requests.size > 0;
      if (isWaiting === wasWaiting) return;
      wasWaiting = isWaiting;
      listener(isWaiting);
    });
  }

  /** Aborts with the current work, and with the given signal. */
  untilEnd(end: AbortSignal): AbortSignal {
    const work = this.#options.signal();
    return work === undefined ? end : AbortSignal.any([work, end]);
  }

  /** Whether a step still needs an answer. */
  isWanted(step: BudgetStep): boolean {
    return this.#signalOf(step)?.aborted === false && !this.#options.requests.isEnded;
  }

  ask(question: BudgetQuestion, step: BudgetStep): Promise<BudgetDecision> {
    const { dimension } = question.params;
    const open = this.#open.get(dimension);
    if (open !== undefined) return open.decision;
    const id = randomUuid();
    const decision = this.#ask(id, question, step).finally(() => this.#open.delete(dimension));
    this.#open.set(dimension, { id, decision });
    return decision;
  }

  /** Answers the question about a limit that has changed, if there is one. */
  settle(dimension: BudgetViolationReason, outcome: RequestOutcome): void {
    const open = this.#open.get(dimension);
    if (open !== undefined)
      this.#options.requests.withdraw(open.id, new Withdrawal("rule", outcome));
  }

  #signalOf({ signal = this.#options.signal() }: BudgetStep): AbortSignal | undefined {
    return signal;
  }

  async #ask(
    id: string,
    { params, read }: BudgetQuestion,
    step: BudgetStep,
  ): Promise<BudgetDecision> {
    const { requests, timeoutMs, promptId } = this.#options;
    const { by, outcome, result } = await requests.ask<BudgetResult>({
      id,
      method: "budget",
      params,
      promptId: promptId(),
      agentId: step.agentId,
      toolCallId: step.toolCallId,
      onTimeout: "cancel",
      timeoutMs: timeoutMs(),
      signal: this.#signalOf(step),
      unanswered: "stopped",
      read,
    });
    if (by === "abort" || by === "end") return "gone";
    return result ?? (outcome === "raised" ? "raised" : { stop: true });
  }
}
