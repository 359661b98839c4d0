/** Longest a timer can run; with a longer wait, `Infinity` among them, it would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer for a time limit; none for 0 and for what no timer can measure. */
export function startTimer(callback: () => void, limitMs: number): NodeJS.Timeout | undefined {
  return limitMs > 0 && limitMs <= MAX_TIMER_MS ? setTimeout(callback, limitMs) : undefined;
}
