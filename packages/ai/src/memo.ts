/** Returns what was made of a message before, or makes it now. */
export type Recall<Value> = (message: object, make: () => Value) => Value;

/**
 * What was made of the messages of earlier requests. A settled message never changes and a request
 * repeats all those before it, so that without a memory each turn costs more than the one before.
 * Messages are held weakly: what nobody holds any more is forgotten here too.
 */
export class Memo {
  #rules: string | undefined;
  #values = new WeakMap<object, unknown>();

  /** The memory of what was made under `rules`: everything besides the message that it depends on. */
  under<Value>(rules: readonly unknown[]): Recall<Value> {
    const key = JSON.stringify(rules);
    if (key !== this.#rules) {
      this.#rules = key;
      this.#values = new WeakMap();
    }
    // Equal rules name the same wire format, and with it the type.
    const values = this.#values as WeakMap<object, { readonly value: Value }>;
    return (message, make) => {
      const known = values.get(message);
      if (known !== undefined) return known.value;
      const value = make();
      values.set(message, { value });
      return value;
    };
  }
}

/** The forms of one message that differ by where it stands, e.g. by the ids of its calls. */
export class Variants<Value> {
  readonly #values = new Map<string, Value>();

  /** The form under `key`, made on first use. */
  get(key: string, make: () => Value): Value {
    let value = this.#values.get(key);
    if (value === undefined) {
      value = make();
      this.#values.set(key, value);
    }
    return value;
  }
}
