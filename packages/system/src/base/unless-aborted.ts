import { whenAborted } from "./when-aborted.ts";

/** Waits for a value, but no longer than until the signal is aborted; the work itself continues. */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  reasonOf: () => unknown = () => signal?.reason,
): Promise<Value> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = whenAborted(signal, () => reject(reasonOf()));
  try {
    return await Promise.race([promise, work]);
  } finally {
    leave();
  }
}
