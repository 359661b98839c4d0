/** Longest a timer can run; with a longer wait it would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether there is a time limit at all: none, zero and what no timer can measure mean that there is not. */
export function isTimed(limitMs: number | undefined): limitMs is number {
  return limitMs !== undefined && limitMs > 0 && limitMs <= MAX_TIMER_MS;
}
