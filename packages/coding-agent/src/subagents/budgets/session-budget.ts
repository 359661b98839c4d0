import type {
  BudgetLimits,
  BudgetSnapshot,
  BudgetViolationReason,
  OnExceeded,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import type { Usage } from "@tau-agent/rpc-protocol/messages";
import type { SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  type Consumption,
  consumptionOf,
  nothingUsed,
  plus,
  usedBy,
} from "@tau-agent/sessions/log";
import { MAX_TIMER_MS, type SettingsStore, SparseSet, Withdrawal } from "@tau-agent/system";
import type { BudgetStep } from "./budget-question.ts";
import type { BudgetDecision, BudgetQuestions } from "./budget-questions.ts";
import { type BudgetedSession, nothingSpent } from "./budgeted-session.ts";
import {
  type Dimension,
  dimensions,
  type Measure,
  refusalOf,
  snapshotOf,
  subagentDimension,
} from "./dimensions.ts";
import { RunClock } from "./run-clock.ts";
import { type BudgetChange, SessionLimits } from "./session-limits.ts";

/**
 * Counts what a session and its subagents use, against the limits of `task.budget.*`. Entries in
 * the session's file count; wall time is the time spent in runs. A used-up limit stops the work, or
 * holds it before its next step until someone has decided whether the limit is raised.
 */
export class SessionBudget {
  readonly #settings: SettingsStore;
  readonly #limits: SessionLimits;
  #session: BudgetedSession | undefined;
  #questions: BudgetQuestions | undefined;
  #used = nothingUsed;
  readonly #clock = new RunClock();
  #timer: NodeJS.Timeout | undefined;
  readonly #warned = new SparseSet<BudgetViolationReason>();
  readonly #followers = new SparseSet<() => void>();
  /** The dimensions whose next step is held, as subagents were told. */
  readonly #held = new SparseSet<BudgetViolationReason>();
  /** The dimension that was announced as exceeded. */
  #exceeded: Dimension | undefined;
  /** Aborts when the run has ended. */
  #run = new AbortController();
  /** Aborts when the budget is exhausted; replaced once a limit is raised. */
  #controller = new AbortController();

  constructor(settings: SettingsStore) {
    this.#settings = settings;
    this.#limits = new SessionLimits(settings);
  }

  /** Starts counting for a session; without questions, a used-up limit always stops it. */
  attach(session: BudgetedSession, questions?: BudgetQuestions): void {
    this.#session = session;
    this.#questions = questions;
    questions?.onWaiting((isWaiting) => {
      this.#clock.isPaused = isWaiting;
      this.#setTimer();
    });
    session.subscribe((event) => this.#note(event));
    this.startOver();
  }

  /**
   * Counts again from the session's entries after a change of session. Limits set for the session
   * stay. A limit that is already exceeded is reported when a run needs more.
   */
  startOver(): void {
    const { consumption, runTimeMs } = this.#session?.log.totals ?? nothingSpent;
    clearTimeout(this.#timer);
    this.#used = consumption;
    this.#clock.reset(runTimeMs);
    this.#warned.clear();
    this.#held.clear();
    this.#exceeded = undefined;
    this.#controller = new AbortController();
  }

  /** Aborts when a limit is exceeded. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What happens when a limit is used up. */
  get onExceeded(): OnExceeded {
    return this.#limits.onExceeded;
  }

  /** The current limits. */
  get limits(): BudgetLimits {
    return this.#limits.all;
  }

  /** Use so far, and its state. */
  get snapshot(): BudgetSnapshot {
    return this.#snapshot(this.#exceeded?.reason);
  }

  /**
   * The limits of a subagent; the remaining number of subagents is shared evenly among `count` of them. The amount
   * `used` by a running subagent is already counted for the session. While the session can ask, only its own clock
   * measures wall time, so that waiting for an answer does not count.
   */
  remaining(count = 1, used: Partial<Record<Measure, number>> = {}): BudgetLimits {
    const { limits, onExceeded } = this;
    const left: BudgetLimits = {};
    for (const { limit, measure } of dimensions) {
      const value = limits[limit];
      if (value === undefined) continue;
      // Negative if a held step has already been counted.
      const rest = value - this.#usedOf(measure);
      if (measure === "wallTimeMs" && onExceeded === "ask" && rest > 0) continue;
      const share = limit === "maxSubagents" ? Math.floor(rest / count) : rest;
      left[limit] = Math.max(0, share + (used[measure] ?? 0));
    }
    return left;
  }

  /** Calls the listener when limits change; returns a function that unsubscribes. */
  onLimitsChange(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /**
   * Sets limits for this session and removes those in `clear`; others stay. Changed limits can warn
   * and be exceeded again, and answer the questions about them.
   */
  setLimits(limits: BudgetChange): void {
    for (const { reason } of this.#limits.change(limits)) this.#warned.delete(reason);
    // Switching to `ask` again is a fresh start: dimensions that stopped the work may be asked about.
    this.#lookAgain(limits.onExceeded === "ask");
    for (const each of dimensions) if (this.#allows(each)) this.#held.delete(each.reason);
    this.#settleQuestions();
    this.#review();
    this.#setTimer();
    for (const follower of this.#followers) follower();
  }

  /**
   * Refuses work if a limit is exceeded, unless someone can be asked about it at the first step.
   *
   * @throws {SessionError} `budget_exceeded`, naming the dimension and the setting
   */
  check(): void {
    this.#lookAgain();
    const found = this.#exceeded ?? dimensions.find((dimension) => this.#isExceeded(dimension));
    if (found === undefined) return;
    if (this.#exceeded !== undefined || !this.#mayAsk) throw this.#refusal(found);
  }

  /**
   * Admits a step of a run: a request to the model, or the tool calls of a reply. If a limit is used up, it asks and
   * waits for the answer. Running out of subagents does not hold a step: the refused call has already reported it.
   *
   * @throws {SessionError} `budget_exceeded`
   */
  async admit(step: BudgetStep = {}): Promise<void> {
    for (;;) {
      this.#lookAgain();
      const found = dimensions.find(
        (dimension) => dimension !== subagentDimension && this.#isExceeded(dimension),
      );
      if (found === undefined) return;
      await this.#ask(found, step);
    }
  }

  /**
   * Takes one subagent from the budget, before it is started. If none is left and the limit is not
   * raised, this one and all further prompts are refused.
   *
   * @throws {SessionError} `budget_exceeded`
   */
  async takeSubagent(step: BudgetStep = {}): Promise<void> {
    // Checked and counted without a pause in between, because other calls may start a subagent, too.
    await this.admitSubagent(step, () => this.add({ subagents: 1 }));
  }

  /**
   * Admits a subagent, and starts it.
   *
   * @throws {SessionError} `budget_exceeded`
   */
  async admitSubagent(step: BudgetStep, start?: () => void): Promise<void> {
    for (;;) {
      await this.admit(step);
      if (this.#allows(subagentDimension)) return start?.();
      await this.#ask(subagentDimension, step);
    }
  }

  /** Adds the use of subagents. */
  add(used: Partial<Consumption>): void {
    this.#used = plus(this.#used, used);
    this.#review();
  }

  /** Adds the usage of requests outside a run, such as summaries. */
  addUsage(usage: Usage): void {
    this.add(consumptionOf(usage));
  }

  #note(event: SessionEvent): void {
    if (event.type === "agent_start") {
      if (!this.#clock.isRunning) this.#run = new AbortController();
      this.#clock.start();
      this.#setTimer();
    } else if (event.type === "agent_settled" || (event.type === "agent_end" && !event.willRetry)) {
      // The wait before a retry counts as time of the run.
      this.#clock.stop();
      clearTimeout(this.#timer);
      // After a run has ended, none of its steps needs an answer.
      this.#run.abort(new Withdrawal("end"));
      this.#review();
    } else {
      const used = usedBy(event);
      if (used !== undefined) this.add(used);
    }
  }

  /** The exceeded limit may have been raised since, even in the settings. */
  #lookAgain(startsOver = false): void {
    if (this.#exceeded === undefined) return;
    if (startsOver) this.#exceeded = undefined;
    else if (!this.#hasRoom(this.#exceeded)) return;
    else this.#exceeded = dimensions.find((dimension) => this.#isExceeded(dimension));
    if (this.#exceeded === undefined) this.#controller = new AbortController();
  }

  /** Whether questions are possible, and the work has not been stopped. */
  get #mayAsk(): boolean {
    return !this.#isStopped && this.onExceeded === "ask" && this.#questions?.isAnswered === true;
  }

  /** Running out of subagents does not stop ongoing work. */
  get #isStopped(): boolean {
    return this.#exceeded !== undefined && this.#exceeded !== subagentDimension;
  }

  /**
   * Asks about a limit and applies the answer.
   *
   * @throws {SessionError} `budget_exceeded` unless the limit may have changed
   */
  async #ask(dimension: Dimension, step: BudgetStep): Promise<void> {
    const mayAsk = this.#mayAsk && this.#exceeded !== dimension;
    const decision = mayAsk ? await this.#decide(dimension, step) : { stop: true as const };
    if (decision === "raised") return;
    if (decision === "gone") {
      // The question may have belonged to another step that is no longer needed.
      if (this.#questions?.isWanted(step)) return;
      throw this.#refusal(dimension);
    }
    if ("limit" in decision) {
      // Each step that waits receives the answer, so the limit is raised only once.
      const current = this.#limits.get(dimension.limit);
      const isNew = current !== undefined && decision.limit > current;
      if (isNew) this.setLimits({ [dimension.limit]: decision.limit });
      return;
    }
    if (dimension === subagentDimension) {
      if (this.#exceeded === undefined) this.#exceed(dimension);
    } else if (this.onExceeded === "ask" && !this.#isStopped) this.#stop(dimension);
    throw this.#refusal(dimension);
  }

  async #decide(dimension: Dimension, step: BudgetStep): Promise<BudgetDecision> {
    // Loaded on demand, because most sessions never ask.
    const { budgetQuestion } = await import("./budget-question.ts");
    if (this.#allows(dimension)) return "raised";
    const limit = this.#limits.get(dimension.limit) ?? 0;
    const counted = this.#usedOf(dimension.measure);
    const question = budgetQuestion(dimension, { limit, counted, step });
    return this.#questions?.ask(question, step) ?? { stop: true };
  }

  /** Answers questions about limits that now have room, or that may no longer be asked about. */
  #settleQuestions(): void {
    for (const dimension of dimensions) {
      const isRaised = this.#allows(dimension);
      if (!isRaised && this.onExceeded === "ask") continue;
      this.#questions?.settle(dimension.reason, isRaised ? "raised" : "stopped");
    }
  }

  /** Wall time passes without events, so set a timer for the warning or the limit. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const limit = this.#limits.get("maxWallTimeMs");
    if (limit === undefined || !this.#clock.isTicking) return;
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
    const { limits } = this;
    const limited = dimensions.filter(({ limit }) => limits[limit] !== undefined);
    // Returns early, because most sessions have no limits and this runs for every message (row "CPU per short prompt").
    if (limited.length === 0) return;
    const ratio = this.#settings.get("task.budget.warnAtRatio");
    for (const dimension of limited) {
      const limit = limits[dimension.limit];
      if (limit === undefined || this.#warned.has(dimension.reason)) continue;
      if (this.#usedOf(dimension.measure) < limit * ratio) continue;
      if (limit === 0 && this.#usedOf(dimension.measure) === 0) continue;
      this.#warned.add(dimension.reason);
      this.#announce("budget_warning", dimension);
    }
    if (this.#exceeded !== undefined) return;
    const found = limited.find((dimension) => this.#isExceeded(dimension));
    if (found === undefined) return;
    // A limit of 0 is exceeded from the start, before there is anything to warn about or stop.
    if (this.#usedOf(found.measure) === 0) return;
    if (this.#mayAsk) this.#hold(found);
    else this.#stop(found);
  }

  /**
   * Makes the next step wait, including those of subagents. Wall time passes without steps, so the question is asked at
   * once.
   */
  #hold({ reason }: Dimension): void {
    if (this.#held.has(reason)) return;
    this.#held.add(reason);
    for (const follower of this.#followers) follower();
    // For other dimensions, the next step asks.
    if (reason !== "wall_time" || !this.#clock.isRunning) return;
    const step = { signal: this.#questions?.untilEnd(this.#run.signal) };
    void this.admit(step).catch(() => undefined);
  }

  #stop(dimension: Dimension): void {
    this.#exceed(dimension);
    this.#controller.abort();
    if (this.#clock.isRunning) void this.#session?.abort();
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
    const status = isExceeded ? "exceeded" : this.#warned.size > 0 ? "warning" : "ok";
    return snapshotOf(this.#used, { status, wallTimeMs: this.#clock.elapsedMs, reason });
  }

  #isExceeded(dimension: Dimension): boolean {
    return this.#limits.isExceeded(dimension, this.#usedOf(dimension.measure));
  }

  /** Whether the held step may proceed: its calls are already counted, a subagent is not. */
  #allows(dimension: Dimension): boolean {
    return dimension === subagentDimension
      ? this.#hasRoom(dimension)
      : !this.#isExceeded(dimension);
  }

  #hasRoom(dimension: Dimension): boolean {
    return this.#limits.hasRoom(dimension, this.#usedOf(dimension.measure));
  }

  #usedOf(measure: Measure): number {
    return measure === "wallTimeMs" ? this.#clock.elapsedMs : this.#used[measure];
  }

  #refusal(dimension: Dimension): SessionError {
    const used = this.#usedOf(dimension.measure);
    return refusalOf(dimension, { used, limit: this.#limits.get(dimension.limit) });
  }
}
