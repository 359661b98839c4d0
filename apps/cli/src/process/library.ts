/** Whether another program, one that an extension has started, loads parts of this one: it is no host then. */
export const isLibrary: boolean =
  Reflect.get(globalThis, Symbol.for("@tau-agent/library")) === true;
