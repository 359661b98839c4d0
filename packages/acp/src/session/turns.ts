/** Does what concerns one thing in order, and what concerns others at the same time. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  get keys(): Iterable<string> {
    return this.#last.keys();
  }

  /** Does the work when all earlier work for the key is done. */
  take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const done = result
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (this.#last.get(key) === done) this.#last.delete(key);
      });
    this.#last.set(key, done);
    return result;
  }
}
