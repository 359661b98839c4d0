/** The input tokens of a request, as a vendor charges them. */
export interface Charge {
  /** Charged at the full price of input. */
  readonly uncached: number;
  /** Charged at the price of reading the cache. */
  readonly cacheRead: number;
  /** Charged at the price of writing the cache, if writing has a price. */
  readonly cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h?: number | undefined;
}
