import { numberIn, skipNumber, unsure } from "./json-bytes.ts";
import { MemberScan, type Skip } from "./member-scan.ts";

/** The numbers of a usage that the totals of a session count. */
export interface ScannedUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** As the vendor says it, or the sum. */
  totalTokens: number;
  cost: number;
}

/** Steps over a finite number. */
export const skipFinite: Skip = (bytes, at) => {
  const end = skipNumber(bytes, at);
  return end === unsure || !Number.isFinite(numberIn(bytes, at, end)) ? unsure : end;
};

/** Steps over the usage of a model call and keeps its numbers. */
export class UsageScan {
  readonly usage: ScannedUsage = {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: 0,
  };
  readonly #cost = new MemberScan({
    input: skipFinite,
    output: skipFinite,
    cacheRead: skipFinite,
    cacheWrite: skipFinite,
    total: this.#keep("cost"),
  });
  readonly #members = new MemberScan({
    input: this.#keep("input"),
    output: this.#keep("output"),
    cacheRead: this.#keep("cacheRead"),
    cacheWrite: this.#keep("cacheWrite"),
    totalTokens: this.#keep("totalTokens"),
    reasoning: skipFinite,
    cacheWrite1h: skipFinite,
    cost: (bytes, at) => this.#skipCost(bytes, at),
  });
  readonly #counts = this.#members.bits("input", "output", "cacheRead", "cacheWrite", "cost");
  readonly #total = this.#members.bits("totalTokens");
  readonly #costs = this.#cost.bits("input", "output", "cacheRead", "cacheWrite", "total");

  /** Steps over a usage with all its members. */
  readonly skip: Skip = (bytes, at) => {
    const end = this.#members.skip(bytes, at);
    const { seen } = this.#members;
    if (end === unsure || (seen & this.#counts) !== this.#counts) return unsure;
    const { usage } = this;
    if ((seen & this.#total) === 0) {
      usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
    }
    return end;
  };

  #skipCost(bytes: Uint8Array, at: number): number {
    const end = this.#cost.skip(bytes, at);
    return (this.#cost.seen & this.#costs) === this.#costs ? end : unsure;
  }

  #keep(name: keyof ScannedUsage): Skip {
    return (bytes, at) => {
      const end = skipNumber(bytes, at);
      if (end === unsure) return unsure;
      const value = numberIn(bytes, at, end);
      this.usage[name] = value;
      return Number.isFinite(value) ? end : unsure;
    };
  }
}
