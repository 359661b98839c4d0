const TICK_MS = 1_000;
/** After this time, a notice says what the session waits for. */
const NOTICE_MS = 10_000;
/** The longest wait for an extension at the start of a session. */
export const BEGIN_LIMIT_MS = 60_000;
/** The longest wait for a handler of another event: it may ask a model or run the project's tests. */
export const HANDLER_LIMIT_MS = 600_000;

export interface Patience {
  /** Whether a person is being asked; that time does not count. */
  readonly isAsking: () => boolean;
  /** Called once the wait has taken a while, with the seconds so far. */
  readonly onSlow: (seconds: number) => void;
  readonly limitMs: number;
}

/**
 * Waits for an extension's work up to a limit, with a notice after a while.
 *
 * @throws once the limit has passed; the work itself continues
 */
export async function inTime<Value>(
  work: Value | Promise<Value>,
  { isAsking, onSlow, limitMs }: Patience,
): Promise<Value> {
  if (!(work instanceof Promise)) return work;
  const late = Promise.withResolvers<never>();
  let waitedMs = 0;
  const timer = setInterval(() => {
    if (isAsking()) return;
    waitedMs += TICK_MS;
    if (waitedMs === NOTICE_MS) onSlow(NOTICE_MS / 1_000);
    if (waitedMs < limitMs) return;
    late.reject(
      new Error(`did not end within ${limitMs / 1_000} s; the session goes on without it`),
    );
  }, TICK_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
