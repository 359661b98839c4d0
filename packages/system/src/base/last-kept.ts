/** Keeps what was made last, for those who ask for the same: the sessions of a host have one folder of the user. */
export class LastKept<Value> {
  #last: { readonly key: string; readonly value: Value } | undefined;

  /** What was made for the same key, else what `make` makes now. */
  get(key: string, make: () => Value): Value {
    if (this.#last?.key !== key) this.#last = { key, value: make() };
    return this.#last.value;
  }
}
