/** How much sooner something may be flushed, to leave with what is due. */
const EARLY_MS = 5;

/**
 * Says when what is held back leaves. All sessions of a connection share one, so that their deltas leave in
 * one write, and not each session has timers (rows `many-sessions`).
 */
export class FlushClock {
  /** What to call, by the time of `performance.now()` at which it is due. */
  readonly #waiting = new Map<() => void, number>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAtMs = Number.POSITIVE_INFINITY;

  /** Calls `flush` once at this time. */
  set(flush: () => void, dueMs: number): void {
    this.#waiting.set(flush, dueMs);
    if (dueMs < this.#wakesAtMs) this.#wakeAt(dueMs);
  }

  /** Does not call it any more. */
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
