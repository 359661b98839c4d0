/** Acts once when the signal is aborted, at once if it is. Returns what ends that. */
export function whenAborted(signal: AbortSignal | undefined, act: () => void): () => void {
  signal?.addEventListener("abort", act, { once: true });
  if (signal?.aborted) act();
  return () => signal?.removeEventListener("abort", act);
}
