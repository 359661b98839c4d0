/** The longest a timer can run; longer ones, including `Infinity`, would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer for a time limit; none for 0 and for limits beyond what a timer can measure. */
export function startTimer(callback: () => void, limitMs: number): NodeJS.Timeout | undefined {
  return limitMs > 0 && limitMs <= MAX_TIMER_MS ? setTimeout(callback, limitMs) : undefined;
}
