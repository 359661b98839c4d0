/** Returns the result of a call, or undefined if it throws, for example because a file is gone. */
export function attempt<Value>(call: () => Value): Value | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
