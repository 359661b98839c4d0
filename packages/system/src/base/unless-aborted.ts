/** Waits for a value, but no longer than until the signal is aborted; the work itself continues. */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  reasonOf: () => unknown = () => signal.reason,
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(reasonOf());
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
