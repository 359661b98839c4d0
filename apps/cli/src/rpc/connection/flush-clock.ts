/** How much earlier than its time something may be flushed, to be sent with what is due. */
const EARLY_MS = 5;

/**
 * Decides when held-back deltas are sent. All sessions of a connection share one clock, so that their deltas
 * are sent in one write and sessions need no timers of their own (rows `many-sessions`).
 */
export class FlushClock {
  /** The flush functions, with the time of `performance.now()` at which each is due. */
  readonly #waiting = new Map<() => void, number>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAtMs = Number.POSITIVE_INFINITY;

  /** Schedules one call of `flush` at this time. */
  set(flush: () => void, dueMs: number): void {
    this.#waiting.set(flush, dueMs);
    if (dueMs < this.#wakesAtMs) this.#wakeAt(dueMs);
  }

  /** Cancels the scheduled call. */
  clear(flush: () => void): void {
    this.#waiting.delete(flush);
  }

  #wakeAt(dueMs: number): void {
    clearTimeout(this.#timer);
    this.#wakesAtMs = dueMs;
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, dueMs - performance.now()));
  }

  #flush(): void {
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
    const untilMs = performance.now() + EARLY_MS;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [flush, dueMs] of this.#waiting) {
      if (dueMs > untilMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      this.#waiting.delete(flush);
      flush();
    }
    if (nextMs < this.#wakesAtMs) this.#wakeAt(nextMs);
  }
}
