/** How long what runs may take to settle after an abort before the run goes on without it. */
export const ABORT_GRACE_MS = 5000;

/**
 * What the work gives, or the error once the signal is aborted and the work has not settled within
 * `graceMs` of that. What the work gives in time always wins.
 */
export async function withinGrace<Value>(
  work: Promise<Value>,
  abort: { readonly signal: AbortSignal; readonly graceMs: number; readonly error: () => Error },
): Promise<Value> {
  const { signal, graceMs, error } = abort;
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => late.reject(error()), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
