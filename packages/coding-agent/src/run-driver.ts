import type { Agent, RunOutcome } from "@tau-agent/agent";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** What the owner of a {@link RunDriver} does around its runs. */
export interface RunDriverOptions {
  readonly agent: Agent;
  /** After each run, before the next one starts. */
  readonly onRunEnd: (input: readonly AgentMessage[], outcome: RunOutcome) => Promise<void>;
  /** Once nothing is running and nothing is queued. */
  readonly onSettled: (aborted: boolean) => Promise<void>;
  /** Nothing of the above may throw; this hears of it when it does. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs the agent until its queues are empty, one run at a time. The session is busy from admission
 * on, so a second prompt queues instead of colliding with a run that has not begun.
 */
export class RunDriver {
  readonly #options: RunDriverOptions;
  #controller: AbortController | undefined;
  #runEnded: PromiseWithResolvers<void> | undefined;
  #idle: Promise<void> = Promise.resolve();

  constructor(options: RunDriverOptions) {
    this.#options = options;
  }

  /** Whether a run is on, or admitted and about to begin. */
  get isBusy(): boolean {
    return this.#controller !== undefined;
  }

  /** Resolves once nothing is running and nothing is queued. */
  waitForIdle(): Promise<void> {
    return this.#idle;
  }

  /**
   * Admits a run. It begins in a later turn of the event loop, so that whoever asked for it can be
   * answered before its first event.
   */
  start(input: readonly AgentMessage[]): void {
    this.#prepareRun();
    this.#idle = new Promise((resolve) => {
      setImmediate(() => {
        void this.#drive(input).then(resolve);
      });
    });
  }

  /** Stops the run that is on; resolves once it has ended. What is queued then runs next. */
  async abort(): Promise<void> {
    this.#controller?.abort();
    await this.#runEnded?.promise;
  }

  async #drive(first: readonly AgentMessage[]): Promise<void> {
    const { agent, onRunEnd, onSettled } = this.#options;
    let input = first;
    let outcome: RunOutcome;
    for (;;) {
      outcome = await agent.run(input, this.#controller?.signal);
      await this.#guard(() => onRunEnd(input, outcome));
      input = agent.steering.take();
      if (input.length === 0) input = agent.followUp.take();
      if (input.length === 0) break;
      this.#runEnded?.resolve();
      this.#prepareRun();
    }
    // From here on a new prompt starts its own run, also while the listeners hear of this one's end.
    const ended = this.#runEnded;
    this.#controller = undefined;
    this.#runEnded = undefined;
    await this.#guard(() => onSettled(outcome.aborted));
    ended?.resolve();
  }

  #prepareRun(): void {
    this.#controller = new AbortController();
    this.#runEnded = Promise.withResolvers();
  }

  async #guard(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }
}
