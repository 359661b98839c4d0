import { setImmediate as nextTurn } from "node:timers/promises";
import type { Agent, ResumedReply, RunOutcome } from "@tau-agent/agent";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** What the owner of a {@link RunDriver} does before, after and between runs. */
export interface RunDriverOptions {
  readonly agent: Agent;
  /** Called before each run, including one that continues another. */
  readonly onRunBegin: (input: readonly AgentMessage[]) => void;
  /**
   * Called after each run, before the next one starts.
   *
   * @returns the messages to continue with, none for a retry; undefined if the run is over
   */
  readonly onRunEnd: (
    input: readonly AgentMessage[],
    outcome: RunOutcome,
    signal: AbortSignal,
  ) => Promise<readonly AgentMessage[] | undefined>;
  /** Called once nothing is running or queued. */
  readonly onSettled: (aborted: boolean) => Promise<void>;
  /** Returns messages that start a run once the queues are empty. */
  readonly takeNotices?: () => AgentMessage[];
  /** Called before waiting for the end of the current work. */
  readonly onStop?: () => void;
  /** Receives errors of the callbacks above, which should not throw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs the agent until its queues are empty, one run at a time, and keeps other long work from overlapping runs. The
 * session is busy from admission on, so a second prompt queues instead of colliding with a run that has not begun.
 */
export class RunDriver {
  readonly #options: RunDriverOptions;
  #controller: AbortController | undefined;
  #isWorking = false;
  /** Whether queued messages wait because other work comes first. */
  #isHeld = false;
  /** The last run, if it ended during a hold and its end has not been announced. */
  #unsettled: RunOutcome | undefined;
  #runEnded: PromiseWithResolvers<void> | undefined;
  #idle: Promise<void> = Promise.resolve();

  constructor(options: RunDriverOptions) {
    this.#options = options;
  }

  /** Whether a run or other work is active, or admitted and about to begin. */
  get isBusy(): boolean {
    return this.#controller !== undefined;
  }

  /** Whether a run is active, or admitted and about to begin. */
  get isRunning(): boolean {
    return this.isBusy && !this.#isWorking;
  }

  /** Whether work other than a run is active. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Aborts with the current work. */
  get signal(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  /** Resolves once nothing is running or queued. */
  waitForIdle(): Promise<void> {
    return this.#idle;
  }

  /**
   * Admits a run. It begins in a later turn of the event loop, so that the request can be answered
   * before its first event.
   */
  start(input: readonly AgentMessage[]): void {
    this.#begin();
    this.#idle = new Promise((resolve) => {
      setImmediate(() => {
        void this.#drive(input).then(resolve);
      });
    });
  }

  /** Admits a run that begins with the calls of an earlier reply, once `ready` resolves or the run is stopped. */
  resume(reply: ResumedReply, ready: Promise<void>): void {
    const { signal } = this.#begin();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => stop(), { once: true });
    this.#idle = Promise.race([ready, stopped])
      .then(nextTurn)
      .then(() => this.#drive([], reply));
  }

  /** Stops the current work and holds back queued messages until {@link perform} or {@link release}. */
  async hold(): Promise<void> {
    this.#isHeld = true;
    this.#stop();
    await this.#idle;
  }

  /** Ends a {@link hold}: runs `first`, or else the queued messages, or else settles the session. */
  async release(first: readonly AgentMessage[] = []): Promise<void> {
    this.#isHeld = false;
    const queued = first.length > 0 ? first : this.#takeQueued();
    const unsettled = this.#unsettled;
    this.#unsettled = undefined;
    if (queued.length > 0) this.start(queued);
    else if (unsettled) await this.#guard(() => this.#options.onSettled(unsettled.aborted));
  }

  /**
   * Does work that no run may overlap, such as a compaction, after a {@link hold}. Messages queued
   * during the work run afterwards, whether it succeeds or not.
   */
  async perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#begin();
    this.#isWorking = true;
    this.#isHeld = false;
    const idle = Promise.withResolvers<void>();
    this.#idle = idle.promise;
    try {
      return await work(signal);
    } finally {
      this.#isWorking = false;
      this.#runEnded?.resolve();
      this.#runEnded = undefined;
      this.#controller = undefined;
      // If another caller has started a hold meanwhile, that caller releases it.
      if (!this.#isHeld) await this.release();
      idle.resolve(this.isBusy ? this.#idle : undefined);
    }
  }

  /** Stops the current work and resolves once it has ended. Queued messages run next. */
  async abort(): Promise<void> {
    this.#stop();
    await this.#runEnded?.promise;
  }

  #stop(): void {
    this.#controller?.abort();
    this.#options.onStop?.();
  }

  async #drive(first: readonly AgentMessage[], reply?: ResumedReply): Promise<void> {
    const { agent, onRunBegin, onRunEnd, onSettled } = this.#options;
    let resumed = reply;
    let input = first;
    let outcome: RunOutcome;
    for (;;) {
      const signal = this.#controller?.signal ?? AbortSignal.abort();
      onRunBegin(input);
      outcome = await agent.run(input, signal, resumed);
      resumed = undefined;
      const next = await this.#guard(() => onRunEnd(input, outcome, signal));
      if (next !== undefined) {
        input = next;
        continue;
      }
      // Queued messages wait while a run is paused.
      input = this.#isHeld || outcome.isPaused ? [] : this.#takeQueued();
      if (input.length === 0) break;
      this.#runEnded?.resolve();
      this.#begin();
    }
    // From here on, a new prompt starts its own run, even while listeners still receive the end of this one.
    const ended = this.#runEnded;
    this.#controller = undefined;
    this.#runEnded = undefined;
    if (this.#isHeld) this.#unsettled = outcome;
    else await this.#guard(() => onSettled(outcome.aborted));
    ended?.resolve();
  }

  #begin(): AbortController {
    const controller = new AbortController();
    this.#controller = controller;
    this.#runEnded = Promise.withResolvers();
    return controller;
  }

  #takeQueued(): AgentMessage[] {
    const { steering, followUp } = this.#options.agent;
    const steered = steering.take();
    const queued = steered.length > 0 ? steered : followUp.take();
    return queued.length > 0 ? queued : (this.#options.takeNotices?.() ?? []);
  }

  async #guard<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      this.#options.onFailure(error);
      return undefined;
    }
  }
}
