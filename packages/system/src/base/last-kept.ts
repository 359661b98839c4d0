/** Keeps the last value for callers with the same key: all sessions of a host share one user folder. */
export class LastKept<Value> {
  #last: { readonly key: string; readonly value: Value } | undefined;

  /** The kept value if the key is the same, otherwise a new one from `make`. */
  get(key: string, make: () => Value): Value {
    if (this.#last?.key !== key) this.#last = { key, value: make() };
    return this.#last.value;
  }
}
