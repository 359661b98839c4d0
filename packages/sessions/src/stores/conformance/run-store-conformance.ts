import type { SessionStore } from "../../log/store/session-store.ts";
import { type ConformanceReport, runChecks } from "./run-checks.ts";

/**
 * Checks a store against the contracts of `SessionStore`. It writes to separate projects whose names begin with
 * `conformance`. It needs no test framework, never rejects, and ends within 40 seconds, even if a call of the store
 * never ends.
 *
 * @example const { results } = await runStoreConformance(myStore); const broken = results.filter(({ ok }) => !ok);
 */
export function runStoreConformance(store: SessionStore): Promise<ConformanceReport> {
  return runChecks(store);
}
