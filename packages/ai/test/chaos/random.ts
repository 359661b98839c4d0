/** A pseudorandom generator (mulberry32): the same seed produces the same numbers. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Whether an event with this probability happens. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }
}
