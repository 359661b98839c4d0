/**
 * Runs `make` without what a vendor's library prints about keys that it finds in the environment, or about
 * ways to give it some: a host's stderr belongs to its user. The console is the own one again when this
 * returns.
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
