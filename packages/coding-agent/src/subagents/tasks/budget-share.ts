import type { Consumption } from "../../session-log/consumption.ts";
import type { BudgetChange, SessionBudget } from "../budgets/session-budget.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

/** What {@link BudgetShare} works with. */
export interface BudgetShareOptions {
  readonly budget: SessionBudget;
  /** How many subagents share the remaining budget. */
  readonly count: number;
  /** What the subagent has used so far. */
  readonly used: () => Consumption;
}

/**
 * A subagent's share of the session's budget: computed at its start and again when limits change,
 * so that a raised limit lets it continue.
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
    this.#limits = options.budget.remaining(options.count);
    this.#unfollow = options.budget.onLimitsChange(() => void this.#pass());
  }

  /** What the subagent is started with. */
  get limits(): BudgetChange {
    return this.#limits;
  }

  /** Passes on limits that changed while the subagent started. */
  async bind(subagent: Pick<Subagent, "setBudget">): Promise<void> {
    this.#subagent = subagent;
    if (this.#isStale) await this.#pass();
  }

  /** Stops passing on changes. */
  end(): void {
    this.#unfollow();
  }

  async #pass(): Promise<void> {
    const { budget, count, used } = this.#options;
    this.#isStale = true;
    if (this.#subagent === undefined) return;
    const wallTimeMs = Math.round(performance.now() - this.#startedAt);
    const limits = budget.remaining(count, { ...used(), wallTimeMs });
    const gone = limitNames(this.#limits).filter((name) => limits[name] === undefined);
    this.#limits = limits;
    // A subagent that has ended needs no limits.
    await this.#subagent.setBudget({ ...limits, clear: gone }).catch(() => undefined);
  }
}

function limitNames({ clear: _, ...limits }: BudgetChange) {
  return Object.keys(limits) as (keyof typeof limits)[];
}
