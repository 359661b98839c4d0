/** How long running work may take to settle after an abort before the run continues without it. */
export const ABORT_GRACE_MS = 5000;

/**
 * Resolves or rejects with the work, or rejects with the error if the signal is aborted and the
 * work has not settled within `graceMs` after that. A result that arrives in time always wins.
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
