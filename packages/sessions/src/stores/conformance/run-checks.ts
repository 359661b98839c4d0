import { endsWithin, mapSome, randomHex, runCheck } from "@tau-agent/system";
import type { SessionStore } from "../../log/store/session-store.ts";
import { Bench, type Check } from "./bench.ts";
import { blobChecks } from "./blob-checks.ts";
import { deleteChecks } from "./delete-checks.ts";
import { entryChecks } from "./entry-checks.ts";
import { keyChecks } from "./key-checks.ts";
import { leaseChecks } from "./lease-checks.ts";

/** The result of one check. */
export interface ConformanceResult {
  /** The contract that was checked. */
  readonly name: string;
  readonly ok: boolean;
  /** How the store broke the contract. */
  readonly reason?: string;
}

/** The results of all checks. */
export interface ConformanceReport {
  readonly results: ConformanceResult[];
}

const checks: readonly Check[] = [
  ...entryChecks,
  ...leaseChecks,
  ...keyChecks,
  ...blobChecks,
  ...deleteChecks,
];
/** A few at a time: others can use the time that one spends waiting. */
const CONCURRENCY = 6;

/** How long checks may take, whatever the store does. */
export interface Limits {
  readonly probeMs: number;
  readonly checkMs: number;
  readonly totalMs: number;
}

export const defaultLimits: Limits = { probeMs: 5_000, checkMs: 15_000, totalMs: 36_000 };

/** Checks a store; never rejects, and ends in time. */
export async function runChecks(
  store: SessionStore,
  { probeMs, checkMs, totalMs }: Limits = defaultLimits,
): Promise<ConformanceReport> {
  const deadline = performance.now() + totalMs;
  const callMs = await timeOfCall(store, probeMs);
  const results = await mapSome(checks, CONCURRENCY, ({ name, run }) =>
    runCheck(name, Math.min(checkMs, deadline - performance.now()), () => {
      const bench = new Bench(store, callMs);
      return run(bench, bench.key());
    }),
  );
  return { results };
}

/** Measures the time of a call, so that leases are long enough for a distant store. */
async function timeOfCall(store: SessionStore, limitMs: number): Promise<number> {
  const projectKey = `conformance ${randomHex(8)}`;
  try {
    return await endsWithin(limitMs, async () => {
      // The first call opens the connection.
      await store.load({ projectKey, sessionId: "first call" });
      const begin = performance.now();
      await store.load({ projectKey, sessionId: "second call" });
      return performance.now() - begin;
    });
  } catch {
    // The checks will report the error.
    return 0;
  }
}
