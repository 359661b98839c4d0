import { isSameList } from "./same-list.ts";

/**
 * Caches the last value for as long as its inputs stay the same. Saves creating a vendor's client for each
 * request (row `read-turn-early`).
 */
export class LastMade {
  #parts: readonly unknown[] = [];
  #value: unknown;

  /**
   * The cached value if it was made from the same `parts` (the first one identifies its type), otherwise a
   * new value from `make`.
   */
  async get<Value>(
    parts: readonly [string, ...unknown[]],
    make: () => Promise<Value>,
  ): Promise<Value> {
    if (isSameList(parts, this.#parts)) return this.#value as Value;
    const value = await make();
    this.#parts = parts;
    this.#value = value;
    return value;
  }
}
