import type { BudgetRequest, BudgetResult } from "@tau-agent/rpc-protocol";
import type { Consumption } from "@tau-agent/sessions/log";
import { dimensions, subagentDimension } from "../budgets/dimensions.ts";
import type { SessionBudget } from "../budgets/session-budget.ts";
import type { BudgetChange } from "../budgets/session-limits.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

export interface BudgetShareOptions {
  readonly budget: SessionBudget;
  /** How many subagents share the remaining budget. */
  readonly count: number;
  readonly used: () => Consumption;
  /** What a resumed subagent had used before. */
  readonly before?: { readonly consumption: Consumption; readonly runTimeMs: number } | undefined;
}

/**
 * A subagent's share of the session's budget. It is computed when the subagent starts and when
 * limits change, so that a raised limit lets the subagent continue.
 */
export class BudgetShare {
  readonly #options: BudgetShareOptions;
  readonly #startedAt = performance.now();
  readonly #unfollow: () => void;
  #limits: BudgetChange;
  #subagent: Pick<Subagent, "setBudget"> | undefined;
  #isStale = false;

  constructor(options: BudgetShareOptions) {
    this.#options = options;
    this.#limits = this.#withRule(options.budget.remaining(options.count, beforeOf(options)));
    this.#unfollow = options.budget.onLimitsChange(() => void this.#pass());
  }

  get limits(): BudgetChange {
    return this.#limits;
  }

  async bind(subagent: Pick<Subagent, "setBudget">): Promise<void> {
    this.#subagent = subagent;
    if (this.#isStale) await this.#pass();
  }

  /**
   * Decides about a limit that the subagent has used up: it may use what others have left, and the session's client is
   * asked only for more.
   */
  async raise(
    { dimension, limit, used, agentId: nested }: BudgetRequest,
    { agentId, signal }: { readonly agentId: string; readonly signal: AbortSignal },
  ): Promise<BudgetResult> {
    const { budget } = this.#options;
    const wanted = dimensions.find(({ reason }) => reason === dimension);
    if (wanted === undefined) return { stop: true };
    const step = { agentId: nested === undefined ? agentId : `${agentId}/${nested}`, signal };
    try {
      if (wanted === subagentDimension) await budget.admitSubagent(step);
      else await budget.admit(step);
    } catch {
      return { stop: true };
    }
    const left = budget.remaining(1, this.#used())[wanted.limit] ?? Number.MAX_SAFE_INTEGER;
    const least = Math.max(limit, used);
    if (left > least) return { limit: left };
    return { limit: least + (budget.remaining()[wanted.limit] || 1) };
  }

  end(): void {
    this.#unfollow();
  }

  async #pass(): Promise<void> {
    const { budget, count } = this.#options;
    this.#isStale = true;
    if (this.#subagent === undefined) return;
    const limits = this.#withRule(budget.remaining(count, this.#used()));
    const gone = limitNames(this.#limits).filter((name) => limits[name] === undefined);
    this.#limits = limits;
    // If the subagent has ended, it needs no limits.
    await this.#subagent.setBudget({ ...limits, clear: gone }).catch(() => undefined);
  }

  #used() {
    const { wallTimeMs: before = 0 } = beforeOf(this.#options);
    const wallTimeMs = Math.round(before + performance.now() - this.#startedAt);
    return { ...this.#options.used(), wallTimeMs };
  }

  /** Makes the subagent ask before it stops, if it has limits. */
  #withRule(limits: BudgetChange): BudgetChange {
    const { onExceeded } = this.#options.budget;
    const isAsked = onExceeded === "ask" && Object.keys(limits).length > 0;
    return isAsked ? { ...limits, onExceeded } : limits;
  }
}

/** Included, because the subagent's host counts its earlier use, too. */
function beforeOf({ before }: BudgetShareOptions): Partial<Consumption & { wallTimeMs: number }> {
  return before === undefined ? {} : { ...before.consumption, wallTimeMs: before.runTimeMs };
}

function limitNames({ clear: _, onExceeded: __, ...limits }: BudgetChange) {
  return Object.keys(limits) as (keyof typeof limits)[];
}
