/** The time spent in runs. It stands still while an answer is awaited. */
export class RunClock {
  #pastMs = 0;
  #startedAt: number | undefined;
  #isRunning = false;
  #isPaused = false;

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The time of all runs, in ms. */
  get elapsedMs(): number {
    return this.#pastMs + (this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt);
  }

  /** Whether time passes now. */
  get isTicking(): boolean {
    return this.#startedAt !== undefined;
  }

  /** Goes on from the time of earlier runs, with none active. */
  reset(pastMs: number): void {
    this.#isRunning = false;
    this.#startedAt = undefined;
    this.#pastMs = pastMs;
  }

  /** A run begins; one may be active already. */
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
