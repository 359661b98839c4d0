/**
 * Keeps what was made last, for as long as what it is made from stays the same. It saves making a
 * vendor's client for each request (row `read-turn-early`).
 */
export class LastMade {
  #parts: readonly unknown[] = [];
  #value: unknown;

  /** What was made from the same `parts` (the first names its type), else what `make` makes now. */
  async get<Value>(
    parts: readonly [string, ...unknown[]],
    make: () => Promise<Value>,
  ): Promise<Value> {
    const isSame =
      parts.length === this.#parts.length && parts.every((part, at) => part === this.#parts[at]);
    if (isSame) return this.#value as Value;
    const value = await make();
    this.#parts = parts;
    this.#value = value;
    return value;
  }
}
