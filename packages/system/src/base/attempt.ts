/** What a call returns; undefined when it throws, as for a file that may be gone. */
export function attempt<Value>(call: () => Value): Value | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
