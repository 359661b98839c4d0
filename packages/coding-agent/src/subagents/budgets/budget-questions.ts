import type { BudgetParams, BudgetResult, BudgetViolationReason } from "@tau-agent/rpc-protocol";
import { randomUuid } from "../../base/random.ts";
import {
  type Answer,
  type HostRequests,
  type RequestOutcome,
  Withdrawal,
} from "../../host-requests/host-requests.ts";
import type { Dimension } from "./dimensions.ts";

/** Who is asked about a budget, and in whose name. */
export interface BudgetQuestionsOptions {
  readonly requests: HostRequests;
  /** How long a question waits, in ms; 0 for no limit. */
  readonly timeoutMs: () => number;
  /** The prompt whose run asks. */
  readonly promptId: () => string | undefined;
  /** Aborted with the current work. */
  readonly signal: () => AbortSignal | undefined;
}

/** What needs more than the budget has. */
export interface BudgetStep {
  /** Tool calls that are counted and have not begun. */
  readonly calls?: number | undefined;
  /** The subagent that needs it. */
  readonly agentId?: string | undefined;
  /** The call that needs it. */
  readonly toolCallId?: string | undefined;
  /** Aborted when the step is not wanted any more; by default with the current work. */
  readonly signal?: AbortSignal | undefined;
}

/** How a question about a budget ended; `gone` if it was taken back unanswered. */
export type BudgetDecision = BudgetResult | "raised" | "gone";

interface OpenQuestion {
  readonly id: string;
  readonly decision: Promise<BudgetDecision>;
}

/** The questions whether a limit is raised: one for each limit, however many steps need more of it. */
export class BudgetQuestions {
  readonly #options: BudgetQuestionsOptions;
  readonly #open = new Map<BudgetViolationReason, OpenQuestion>();

  constructor(options: BudgetQuestionsOptions) {
    this.#options = options;
  }

  /** Whether someone answers. */
  get isAnswered(): boolean {
    return this.#options.requests.isAnswered("budget");
  }

  /** Calls the listener when the first question of any kind opens, and when the last has ended. */
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

  /** Aborted with the current work, and with this signal. */
  untilEnd(end: AbortSignal): AbortSignal {
    const work = this.#options.signal();
    return work === undefined ? end : AbortSignal.any([work, end]);
  }

  /** Whether a step may still be asked about. */
  isWanted(step: BudgetStep): boolean {
    return this.#signalOf(step)?.aborted === false && !this.#options.requests.isEnded;
  }

  /** Asks about a limit, or joins the question that is open. */
  ask(params: BudgetParams, step: BudgetStep): Promise<BudgetDecision> {
    const open = this.#open.get(params.dimension);
    if (open !== undefined) return open.decision;
    const id = randomUuid();
    const decision = this.#ask(id, params, step).finally(() => this.#open.delete(params.dimension));
    this.#open.set(params.dimension, { id, decision });
    return decision;
  }

  /** A changed limit answers the question about it, if there is one. */
  settle(dimension: BudgetViolationReason, outcome: RequestOutcome): void {
    const open = this.#open.get(dimension);
    if (open !== undefined)
      this.#options.requests.withdraw(open.id, new Withdrawal("rule", outcome));
  }

  #signalOf({ signal = this.#options.signal() }: BudgetStep): AbortSignal | undefined {
    return signal;
  }

  async #ask(id: string, params: BudgetParams, step: BudgetStep): Promise<BudgetDecision> {
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
      read: (given) => readBudgetResult(given, params),
    });
    if (by === "abort" || by === "end") return "gone";
    return result ?? (outcome === "raised" ? "raised" : { stop: true });
  }
}

/** A question about a limit; `counted` is what the limit is compared with. */
export function budgetParams(
  { reason, isCount, inWords, unit, measure, limit: name }: Dimension,
  { limit, counted, step }: { limit: number; counted: number; step: BudgetStep },
): BudgetParams {
  const { calls = 0, agentId } = step;
  // Calls that have not begun have been counted, but not used.
  const waiting = measure === "toolCalls" ? calls : 0;
  const used = isCount ? Math.min(counted - waiting, limit) : counted;
  const more = waiting > 1 ? `, and ${waiting} more are asked for` : "";
  const agent = agentId === undefined ? "" : ` (agent ${agentId})`;
  const title = `Budget${agent}: ${inWords(used)} of ${inWords(limit)} ${unit} used${more}. Continue?`;
  const setting = `task.budget.${name}`;
  return { dimension: reason, limit, used, setting, scope: "session", title };
}

/** Reads the answer to a question about a budget. */
function readBudgetResult(
  result: unknown,
  { limit: current, used }: BudgetParams,
): Answer<BudgetResult> {
  if (typeof result !== "object" || result === null) {
    return { field: "result", reason: "expected an object with limit, or stop: true" };
  }
  if (Reflect.get(result, "stop") === true) return { result: { stop: true }, outcome: "stopped" };
  const limit: unknown = Reflect.get(result, "limit");
  const least = Math.max(current, used);
  if (typeof limit === "number" && Number.isFinite(limit) && limit > least) {
    return { result: { limit }, outcome: "raised" };
  }
  const shown = limit === undefined ? "nothing" : JSON.stringify(limit).slice(0, 60);
  return {
    field: "result.limit",
    reason: `expected a number above ${least}, or stop: true, got ${shown}`,
  };
}
