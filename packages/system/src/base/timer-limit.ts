/** The longest delay of a timer; with a longer one it would fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether a limit is set: a positive time that a timer can measure. */
export function isTimed(limitMs: number | undefined): limitMs is number {
  return limitMs !== undefined && limitMs > 0 && limitMs <= MAX_TIMER_MS;
}
