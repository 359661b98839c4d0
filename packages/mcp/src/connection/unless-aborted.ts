/** Waits for a value, but not longer than until it is no longer wanted. */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
