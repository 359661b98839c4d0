/**
 * Runs `make` while suppressing what a vendor's library prints about keys in the environment or about ways to
 * supply them: a host's stderr belongs to its user. The console works again when this returns.
 */
export function quietly<Value>(make: () => Value): Value {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return make();
  } finally {
    console.warn = warn;
  }
}
