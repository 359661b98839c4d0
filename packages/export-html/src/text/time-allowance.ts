import { createContext, Script } from "node:vm";
import type { Allowance } from "@tau-agent/markup";

export interface TimeLimits {
  readonly textMs: number;
  /** The limit for all texts together, beyond the usual time for their length. */
  readonly totalMs: number;
}

/** Libraries usually manage at least this much; only slower texts use up the total. */
const usualCharactersPerMs = 250;
/** A text below this size takes little time, whatever it contains. */
const smallLength = 500;
/** If the process used less CPU time than this share of the limit, the machine was busy with other work. */
const busyShare = 0.5;
const maxAttempts = 5;

const call = new Script("work()");

/**
 * Some texts keep the regular expressions of a language busy for minutes, and emphasis may do so
 * with the Markdown parser.
 */
export const colourLimits: TimeLimits = { textMs: 150, totalMs: 2_000 };
export const markdownLimits: TimeLimits = { textMs: 400, totalMs: 3_000 };

/**
 * Runs libraries that take quadratic time, or worse, for some texts. Work that exceeds its limit is
 * interrupted; once the texts of a page have used up the total, only small ones are processed. So
 * the time for a page is bounded by its length.
 */
export class TimeAllowance implements Allowance {
  readonly #textMs: number;
  readonly #context: { work: () => void } = { work: () => {} };
  #leftMs: number;

  constructor({ textMs, totalMs }: TimeLimits) {
    this.#textMs = textMs;
    this.#leftMs = totalMs;
    createContext(this.#context);
  }

  /** The result of `work` on a text of `length` characters; undefined if it takes too long. */
  run<Value>(length: number, work: () => Value): Value | undefined {
    if (length <= smallLength) return work();
    for (let attempt = 1; this.#leftMs > 0 && attempt <= maxAttempts; attempt += 1) {
      const { result, busyMs } = this.#attempt(work);
      this.#leftMs -= Math.max(0, busyMs - length / usualCharactersPerMs);
      if (result !== undefined) return result.value;
      if (busyMs > this.#textMs * busyShare) return undefined;
    }
    return undefined;
  }

  #attempt<Value>(work: () => Value): { result?: { value: Value } | undefined; busyMs: number } {
    const before = process.cpuUsage();
    const result = this.#interruptible(work);
    const { user, system } = process.cpuUsage(before);
    return { result, busyMs: (user + system) / 1000 };
  }

  /** The result of `work`, or nothing if it has not ended in time; errors of the work are thrown. */
  #interruptible<Value>(work: () => Value): { value: Value } | undefined {
    let result: { value: Value } | undefined;
    this.#context.work = () => {
      result = { value: work() };
    };
    try {
      // Only a script can be interrupted, and with it whatever it calls, even a regular expression.
      call.runInContext(this.#context, { timeout: this.#textMs });
      return result;
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  }
}

// The error belongs to the script's context, where `Error` is another class.
function isTimeout(error: unknown): boolean {
  return Object(error).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
