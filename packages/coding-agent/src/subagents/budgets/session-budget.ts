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
  /** The dimensions whose next step is held, as subagents have learned. */
  readonly #held = new SparseSet<BudgetViolationReason>();
  /** The dimension that was announced as exceeded. */
  #exceeded: Dimension | undefined;
  /** Aborted when the run has ended. */
  #run = new AbortController();
  /** Aborted with the budget; a fresh one once a limit was raised. */
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
   * Counts again from the session's entries after a change of session. Limits that were set stay. A
   * limit exceeded by then is reported when a run needs more.
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

  /** Aborted when a limit is crossed. */
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
   * The limits of a subagent; the remaining number of subagents is shared evenly among `count` of
   * them. What a running one has `used` is already counted for the session. While the session can
   * ask, its own clock alone measures wall time, so that no wait for an answer counts.
   */
  remaining(count = 1, used: Partial<Record<Measure, number>> = {}): BudgetLimits {
    const { limits, onExceeded } = this;
    const left: BudgetLimits = {};
    for (const { limit, measure } of dimensions) {
      const value = limits[limit];
      if (value === undefined) continue;
      // Negative where a step that is held has been counted already.
      const rest = value - this.#usedOf(measure);
      if (measure === "wallTimeMs" && onExceeded === "ask" && rest > 0) continue;
      const share = limit === "maxSubagents" ? Math.floor(rest / count) : rest;
      left[limit] = Math.max(0, share + (used[measure] ?? 0));
    }
    return left;
  }

  /** Calls the listener when limits change; returns what removes it. */
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
    // Asking again is a fresh start: what was stopped may be asked about.
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
   * @throws {SessionError} `budget_exceeded` naming the dimension and the setting
   */
  check(): void {
    this.#lookAgain();
    const found = this.#exceeded ?? dimensions.find((dimension) => this.#isExceeded(dimension));
    if (found === undefined) return;
    if (this.#exceeded !== undefined || !this.#mayAsk) throw this.#refusal(found);
  }

  /**
   * Admits a step of a run: a request to the model, or the tool calls of a reply. Where a limit is used
   * up it asks, and waits for the answer. Running out of subagents is not a reason: the refused call has
   * reported it.
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
    // Without a pause between the look and the count: others may start one, too.
    await this.admitSubagent(step, () => this.add({ subagents: 1 }));
  }

  /**
   * Admits the start of a subagent, and starts it.
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
      if (!this.#clock.isRunning) this.#run = new AbortController();
      this.#clock.start();
      this.#setTimer();
    } else if (event.type === "agent_settled" || (event.type === "agent_end" && !event.willRetry)) {
      // The wait before a retry counts as time of its run.
      this.#clock.stop();
      clearTimeout(this.#timer);
      // A run that ended needs nothing more.
      this.#run.abort(new Withdrawal("end"));
      this.#review();
    } else {
      const used = usedBy(event);
      if (used !== undefined) this.add(used);
    }
  }

  /** The exceeded limit may have been raised since, in the settings too. */
  #lookAgain(startsOver = false): void {
    if (this.#exceeded === undefined) return;
    if (startsOver) this.#exceeded = undefined;
    else if (!this.#hasRoom(this.#exceeded)) return;
    else this.#exceeded = dimensions.find((dimension) => this.#isExceeded(dimension));
    if (this.#exceeded === undefined) this.#controller = new AbortController();
  }

  /** Whether someone decides about used-up limits, and the work was not stopped before. */
  get #mayAsk(): boolean {
    return !this.#isStopped && this.onExceeded === "ask" && this.#questions?.isAnswered === true;
  }

  /** Running out of subagents stops nothing that is under way. */
  get #isStopped(): boolean {
    return this.#exceeded !== undefined && this.#exceeded !== subagentDimension;
  }

  /**
   * Asks about a limit and does what the answer says.
   *
   * @throws {SessionError} `budget_exceeded` unless the limit may have changed
   */
  async #ask(dimension: Dimension, step: BudgetStep): Promise<void> {
    const mayAsk = this.#mayAsk && this.#exceeded !== dimension;
    const decision = mayAsk ? await this.#decide(dimension, step) : { stop: true as const };
    if (decision === "raised") return;
    if (decision === "gone") {
      // Another step may have asked, and is not wanted any more.
      if (this.#questions?.isWanted(step)) return;
      throw this.#refusal(dimension);
    }
    if ("limit" in decision) {
      // Each step that waited for the answer gets it.
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
    // Most sessions never ask.
    const { budgetQuestion } = await import("./budget-question.ts");
    if (this.#allows(dimension)) return "raised";
    const limit = this.#limits.get(dimension.limit) ?? 0;
    const counted = this.#usedOf(dimension.measure);
    const question = budgetQuestion(dimension, { limit, counted, step });
    return this.#questions?.ask(question, step) ?? { stop: true };
  }

  /** Questions about limits that have room now, or may not be asked any more, are answered. */
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
    // Most sessions have no limits, and every message counts (row "CPU per short prompt").
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
    // A limit of 0 is exceeded from the start, when there is nothing to warn or stop.
    if (this.#usedOf(found.measure) === 0) return;
    if (this.#mayAsk) this.#hold(found);
    else this.#stop(found);
  }

  /**
   * The next step has to wait, those of subagents too. Wall time passes without steps, so it is asked
   * about at once.
   */
  #hold({ reason }: Dimension): void {
    if (this.#held.has(reason)) return;
    this.#held.add(reason);
    for (const follower of this.#followers) follower();
    // What comes of it concerns the steps that wait for it.
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

  /** Whether the step that is held may be taken: its calls are counted, a subagent is not yet. */
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
