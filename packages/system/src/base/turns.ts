import { SparseMap } from "./sparse.ts";
/** Does work for one key in the order of the calls, and for others at the same time. */
export class Turns {
  readonly #last = new SparseMap<string, Promise<void>>();

  /** The keys that have work. */
  get keys(): Iterable<string> {
    return this.#last.keys();
  }

  /**
   * Does the work once all earlier work for the key is done, also if that failed. Later work begins after the
   * caller has gone on with the result, so that what it does at once with it comes first.
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
