/** The time spent in runs. It stops while an answer is awaited. */
export class RunClock {
  #pastMs = 0;
  #startedAt: number | undefined;
  #isRunning = false;
  #isPaused = false;

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The total time of all runs, in ms. */
  get elapsedMs(): number {
    return this.#pastMs + (this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt);
  }

  /** Whether the clock is running now. */
  get isTicking(): boolean {
    return this.#startedAt !== undefined;
  }

  /** Starts from the time of earlier runs, with no active run. */
  reset(pastMs: number): void {
    this.#isRunning = false;
    this.#startedAt = undefined;
    this.#pastMs = pastMs;
  }

  /** Notes the start of a run; another one may already be active. */
  start(): void {
    this.#isRunning = true;
    this.#set();
  }

  stop(): void {
    this.#isRunning = false;
    this.#set();
  }

  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
    this.#set();
  }

  #set(): void {
    const ticks = this.#isRunning && !this.#isPaused;
    if (ticks === this.isTicking) return;
    this.#pastMs = this.elapsedMs;
    this.#startedAt = ticks ? performance.now() : undefined;
  }
}
