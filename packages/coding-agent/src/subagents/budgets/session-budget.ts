import type {
  BudgetLimits,
  BudgetSnapshot,
  BudgetViolationReason,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import type { Usage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "../../base/errors.ts";
import { MAX_TIMER_MS } from "../../base/timer-limit.ts";
import {
  type Consumption,
  consumptionOf,
  nothingUsed,
  plus,
  usedBy,
} from "../../session-log/consumption.ts";
import type { SettingsStore } from "../../settings/store.ts";

type LimitName = keyof BudgetLimits;
type Measure = Exclude<keyof BudgetSnapshot, "status" | "reason">;

/** Limits to set, and names of limits to remove; others stay. */
export type BudgetChange = BudgetLimits & { readonly clear?: LimitName[] | undefined };

interface Dimension {
  readonly reason: BudgetViolationReason;
  readonly limit: LimitName;
  readonly measure: Measure;
  /** Counts may reach their limit; measured amounts are exceeded when they reach it. */
  readonly isCount: boolean;
}

const subagentDimension: Dimension = {
  reason: "subagents",
  limit: "maxSubagents",
  measure: "subagents",
  isCount: true,
};

const dimensions: readonly Dimension[] = [
  { reason: "wall_time", limit: "maxWallTimeMs", measure: "wallTimeMs", isCount: false },
  { reason: "input_tokens", limit: "maxInputTokens", measure: "inputTokens", isCount: false },
  { reason: "output_tokens", limit: "maxOutputTokens", measure: "outputTokens", isCount: false },
  { reason: "total_tokens", limit: "maxTotalTokens", measure: "totalTokens", isCount: false },
  { reason: "cost", limit: "maxCostUsd", measure: "costUsd", isCount: false },
  { reason: "tool_calls", limit: "maxToolCalls", measure: "toolCalls", isCount: true },
  subagentDimension,
];

const nothingSpent: SpentBefore = { consumption: nothingUsed, runTimeMs: 0 };

/** What a budget needs of its session. */
export interface BudgetedSession {
  subscribe(listener: (event: SessionEvent) => void): () => void;
  report(event: SessionEvent): void | Promise<void>;
  abort(): Promise<void>;
  /** Use so far, according to the session's entries. */
  readonly log: { readonly totals: SpentBefore };
}

interface SpentBefore {
  readonly consumption: Consumption;
  readonly runTimeMs: number;
}

/**
 * Counts what a session and its subagents use, against the limits of `task.budget.*`. Entries in
 * the session's file count; wall time is the time spent in runs.
 */
export class SessionBudget {
  readonly #settings: SettingsStore;
  /** Limits set for this session; null removes the setting's limit. */
  readonly #given = new Map<LimitName, number | null>();
  #session: BudgetedSession | undefined;
  #used = nothingUsed;
  #pastRunsMs = 0;
  #runStartedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #warned = new Set<BudgetViolationReason>();
  readonly #followers = new Set<() => void>();
  /** The dimension that was announced as exceeded. */
  #exceeded: Dimension | undefined;
  /** Aborted with the budget; a fresh one once a limit was raised. */
  #controller = new AbortController();

  constructor(settings: SettingsStore) {
    this.#settings = settings;
  }

  /** Starts counting for a session. */
  attach(session: BudgetedSession): void {
    this.#session = session;
    session.subscribe((event) => this.#note(event));
    this.startOver();
  }

  /**
   * Counts again from the session's entries after a change of session. Limits that were set stay. A
   * limit exceeded by then is reported when a run needs more.
   */
  startOver(): void {
    const { consumption, runTimeMs } = this.#session?.log.totals ?? nothingSpent;
    this.#stopClock();
    this.#used = consumption;
    this.#pastRunsMs = runTimeMs;
    this.#warned.clear();
    this.#exceeded = undefined;
    this.#controller = new AbortController();
  }

  /** Aborted when a limit is crossed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The current limits. */
  get limits(): BudgetLimits {
    const limits: BudgetLimits = {};
    for (const { limit } of dimensions) {
      const value = this.#limit(limit);
      if (value !== undefined) limits[limit] = value;
    }
    return limits;
  }

  /** Use so far, and its state. */
  get snapshot(): BudgetSnapshot {
    return this.#snapshot(this.#exceeded?.reason);
  }

  /**
   * The limits of a subagent; the remaining number of subagents is shared evenly among `count` of
   * them. What a running one has `used` is already counted for the session.
   */
  remaining(count = 1, used: Partial<Record<Measure, number>> = {}): BudgetLimits {
    const { limits } = this;
    const left: BudgetLimits = {};
    for (const { limit, measure } of dimensions) {
      const value = limits[limit];
      if (value === undefined) continue;
      const rest = Math.max(0, value - this.#usedOf(measure));
      const share = limit === "maxSubagents" ? Math.floor(rest / count) : rest;
      left[limit] = share + (used[measure] ?? 0);
    }
    return left;
  }

  /** Calls the listener when limits change; returns the function that removes it. */
  onLimitsChange(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /**
   * Sets limits for this session and removes those in `clear`; others stay. Changed limits can warn
   * and be exceeded again.
   */
  setLimits(limits: BudgetChange): void {
    for (const { limit, reason } of dimensions) {
      const value = limits.clear?.includes(limit) ? null : limits[limit];
      if (value === undefined) continue;
      const before = this.#limit(limit);
      this.#given.set(limit, value);
      if (this.#limit(limit) !== before) this.#warned.delete(reason);
    }
    this.#lookAgain();
    this.#review();
    this.#setTimer();
    for (const follower of this.#followers) follower();
  }

  /**
   * Refuses work if a limit is exceeded.
   *
   * @throws {SessionError} `budget_exceeded` naming the dimension and the setting
   */
  check(): void {
    this.#lookAgain();
    const found = this.#exceeded ?? dimensions.find((dimension) => this.#isExceeded(dimension));
    if (found !== undefined) throw this.#refusal(found);
  }

  /**
   * Refuses a further request of a run. Running out of subagents is not a reason: the refused call
   * has reported it.
   *
   * @throws {SessionError} `budget_exceeded`
   */
  checkRequest(): void {
    const found = dimensions.find(
      (dimension) => dimension !== subagentDimension && this.#isExceeded(dimension),
    );
    if (found !== undefined) throw this.#refusal(found);
  }

  /**
   * Takes one subagent from the budget, before it is started. If none is left, this one and all
   * further prompts are refused.
   *
   * @throws {SessionError} `budget_exceeded`
   */
  takeSubagent(): void {
    this.checkRequest();
    const limit = this.#limit("maxSubagents");
    if (limit !== undefined && this.#used.subagents >= limit) {
      if (this.#exceeded === undefined) this.#exceed(subagentDimension);
      throw this.#refusal(subagentDimension);
    }
    this.add({ subagents: 1 });
  }

  /** Adds use by subagents. */
  add(used: Partial<Consumption>): void {
    this.#used = plus(this.#used, used);
    this.#review();
  }

  /** Adds use by requests outside a run, such as summaries. */
  addUsage(usage: Usage): void {
    this.add(consumptionOf(usage));
  }

  #note(event: SessionEvent): void {
    if (event.type === "agent_start") {
      this.#runStartedAt ??= performance.now();
      this.#setTimer();
    } else if (event.type === "agent_settled" || (event.type === "agent_end" && !event.willRetry)) {
      // The wait before a retry counts as time of its run.
      this.#stopClock();
      this.#review();
    } else {
      const used = usedBy(event);
      if (used !== undefined) this.add(used);
    }
  }

  /** The exceeded limit may have been raised since, in the settings too. */
  #lookAgain(): void {
    if (this.#exceeded === undefined || !this.#hasRoom(this.#exceeded)) return;
    this.#exceeded = dimensions.find((dimension) => this.#isExceeded(dimension));
    if (this.#exceeded === undefined) this.#controller = new AbortController();
  }

  #stopClock(): void {
    this.#pastRunsMs = this.#usedOf("wallTimeMs");
    this.#runStartedAt = undefined;
    clearTimeout(this.#timer);
  }

  /** Wall time passes without events, so set a timer for the warning or the limit. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const limit = this.limits.maxWallTimeMs;
    if (limit === undefined || this.#runStartedAt === undefined) return;
    const used = this.#usedOf("wallTimeMs");
    const warning = limit * this.#settings.get("task.budget.warnAtRatio");
    const next = (used < warning ? warning : limit) - used;
    if (next < 0 || next > MAX_TIMER_MS) return;
    this.#timer = setTimeout(() => {
      this.#review();
      this.#setTimer();
    }, Math.ceil(next) + 1).unref();
  }

  #review(): void {
    const ratio = this.#settings.get("task.budget.warnAtRatio");
    const { limits } = this;
    for (const dimension of dimensions) {
      const limit = limits[dimension.limit];
      if (limit === undefined || this.#warned.has(dimension.reason)) continue;
      if (this.#usedOf(dimension.measure) < limit * ratio) continue;
      if (limit === 0 && this.#usedOf(dimension.measure) === 0) continue;
      this.#warned.add(dimension.reason);
      this.#announce("budget_warning", dimension);
    }
    if (this.#exceeded !== undefined) return;
    const found = dimensions.find((dimension) => this.#isExceeded(dimension));
    if (found === undefined) return;
    // A limit of 0 is exceeded from the start, when there is nothing to warn or stop.
    if (this.#usedOf(found.measure) === 0) return;
    this.#exceed(found);
    this.#controller.abort();
    if (this.#runStartedAt !== undefined) void this.#session?.abort();
  }

  #exceed(dimension: Dimension): void {
    this.#exceeded = dimension;
    this.#announce("budget_exceeded", dimension);
  }

  /** In a microtask, so that every listener gets the causing event before this one. */
  #announce(type: "budget_warning" | "budget_exceeded", { reason }: Dimension): void {
    const snapshot = this.#snapshot(reason);
    queueMicrotask(() => void this.#session?.report({ type, scope: "session", snapshot }));
  }

  #snapshot(reason: BudgetViolationReason | undefined): BudgetSnapshot {
    const isExceeded =
      this.#exceeded !== undefined || dimensions.some((dimension) => this.#isExceeded(dimension));
    const { cacheReadTokens: _read, cacheWriteTokens: _write, ...used } = this.#used;
    return {
      status: isExceeded ? "exceeded" : this.#warned.size > 0 ? "warning" : "ok",
      wallTimeMs: Math.round(this.#usedOf("wallTimeMs")),
      ...used,
      ...(reason !== undefined && { reason }),
    };
  }

  #isExceeded({ limit, measure, isCount }: Dimension): boolean {
    const value = this.#limit(limit);
    if (value === undefined) return false;
    const used = this.#usedOf(measure);
    return isCount ? used > value : used >= value;
  }

  #hasRoom({ limit, measure }: Dimension): boolean {
    const value = this.#limit(limit);
    return value === undefined || this.#usedOf(measure) < value;
  }

  #limit(name: LimitName): number | undefined {
    const given = this.#given.get(name);
    if (given !== undefined) return given ?? undefined;
    return this.#settings.get(`task.budget.${name}`);
  }

  #usedOf(measure: Measure): number {
    if (measure !== "wallTimeMs") return this.#used[measure];
    const started = this.#runStartedAt;
    return this.#pastRunsMs + (started === undefined ? 0 : performance.now() - started);
  }

  #refusal({ limit, measure, reason }: Dimension): SessionError {
    return new SessionError("budget_exceeded", {
      dimension: reason,
      used: String(Math.round(this.#usedOf(measure) * 10_000) / 10_000),
      limit: String(this.#limit(limit)),
      setting: `task.budget.${limit}`,
    });
  }
}
