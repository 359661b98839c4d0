/** The input of a request, as a vendor charges it, in tokens. */
export interface Charge {
  /** At the full price of input. */
  readonly uncached: number;
  /** At the price of reading the cache. */
  readonly cacheRead: number;
  /** At the price of writing the cache, where writing has one. */
  readonly cacheWrite: number;
  /** Part of `cacheWrite` that is kept an hour. */
  readonly cacheWrite1h?: number | undefined;
}
