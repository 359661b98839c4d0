import { SparseMap } from "./sparse.ts";
/** Runs work for the same key in the order of the calls, and work for different keys at the same time. */
export class Turns {
  readonly #last = new SparseMap<string, Promise<void>>();

  /** The keys with pending work. */
  get keys(): Iterable<string> {
    return this.#last.keys();
  }

  /**
   * Runs the work after all earlier work for the key, even if that failed. Later work starts only after the
   * caller has continued with the result, so whatever the caller does synchronously comes first.
   */
  take<Result>(key: string, work: () => Result | Promise<Result>): Promise<Result> {
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
