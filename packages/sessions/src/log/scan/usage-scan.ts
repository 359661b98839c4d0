import { numberIn, skipNumber, unsure } from "./json-bytes.ts";
import { MemberScan, type Skip } from "./member-scan.ts";

/** The index of each number of a usage in {@link UsageScan}. */
const [INPUT, OUTPUT, CACHE_READ, CACHE_WRITE, TOTAL, COST] = [0, 1, 2, 3, 4, 5];

export interface ScannedUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The vendor's number, or the sum. */
  totalTokens: number;
  cost: number;
}

export const skipFinite: Skip = (bytes, at) => {
  const end = skipNumber(bytes, at);
  return end === unsure || !Number.isFinite(numberIn(bytes, at, end)) ? unsure : end;
};

export class UsageScan {
  /**
   * The members of `ScannedUsage`, in that order. A typed array allocates no memory per number (row
   * "100 000 entries: spawn").
   */
  readonly numbers = new Float64Array(6);
  readonly #cost = new MemberScan({
    input: skipFinite,
    output: skipFinite,
    cacheRead: skipFinite,
    cacheWrite: skipFinite,
    total: this.#keep(COST),
  });
  readonly #members = new MemberScan({
    input: this.#keep(INPUT),
    output: this.#keep(OUTPUT),
    cacheRead: this.#keep(CACHE_READ),
    cacheWrite: this.#keep(CACHE_WRITE),
    totalTokens: this.#keep(TOTAL),
    reasoning: skipFinite,
    cacheWrite1h: skipFinite,
    cost: (bytes, at) => this.#skipCost(bytes, at),
  });
  readonly #counts = this.#members.bits("input", "output", "cacheRead", "cacheWrite", "cost");
  readonly #total = this.#members.bits("totalTokens");
  readonly #costs = this.#cost.bits("input", "output", "cacheRead", "cacheWrite", "total");

  readonly skip: Skip = (bytes, at) => {
    const end = this.#members.skip(bytes, at);
    const { seen } = this.#members;
    if (end === unsure || (seen & this.#counts) !== this.#counts) return unsure;
    if ((seen & this.#total) === 0) {
      const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = this.numbers;
      this.numbers[TOTAL] = input + output + cacheRead + cacheWrite;
    }
    return end;
  };

  #skipCost(bytes: Uint8Array, at: number): number {
    const end = this.#cost.skip(bytes, at);
    return (this.#cost.seen & this.#costs) === this.#costs ? end : unsure;
  }

  #keep(index: number): Skip {
    return (bytes, at) => {
      const end = skipNumber(bytes, at);
      if (end === unsure) return unsure;
      const value = numberIn(bytes, at, end);
      this.numbers[index] = value;
      return Number.isFinite(value) ? end : unsure;
    };
  }
}
