/**
 * Calls back once when the signal is aborted, immediately if it already is. Returns a function that stops listening.
 */
export function whenAborted(signal: AbortSignal | undefined, act: () => void): () => void {
  signal?.addEventListener("abort", act, { once: true });
  if (signal?.aborted) act();
  return () => signal?.removeEventListener("abort", act);
}
