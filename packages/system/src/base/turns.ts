/** Does work for one key in the order of the calls, and for others at the same time. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** The keys that have work. */
  get keys(): Iterable<string> {
    return this.#last.keys();
  }

  /** Does the work once all earlier work for the key is done, also if that failed. */
  async take<Result>(key: string, work: () => Result | Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    this.#last.set(key, done);
    try {
      await before;
      return await work();
    } finally {
      finish();
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
