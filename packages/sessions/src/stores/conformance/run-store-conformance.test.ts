import { expect, test } from "vitest";
import { slice } from "../../../../../scripts/testing/slice.ts";
import type { SessionStore } from "../../log/store/session-store.ts";
import { mutants } from "../__fixtures__/mutants.ts";
import { MemorySessionStore } from "../memory/memory-session-store.ts";
import { defaultLimits, runChecks } from "./run-checks.ts";
import { runStoreConformance } from "./run-store-conformance.ts";

const limitMs = 60_000;

test("the store in memory passes every check", { timeout: limitMs }, async () => {
  const { results } = await runStoreConformance(new MemorySessionStore());
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  expect(results.length).toBeGreaterThan(25);
});

test.concurrent.each(slice(mutants, 15))(
  "$name is caught",
  { timeout: limitMs },
  async ({ name, catches, make }) => {
    const { results } = await runStoreConformance(make());
    const broken = results.filter(({ ok }) => !ok);
    expect(
      broken.map((result) => result.name),
      name,
    ).toContain(catches);
    expect(broken.every(({ reason }) => reason !== undefined && reason !== "")).toBe(true);
  },
);

test("a run against a store that never answers ends in time", async () => {
  const never = () => new Promise<never>(() => undefined);
  const store = new Proxy({}, { get: () => never }) as SessionStore;
  const limits = { probeMs: 50, checkMs: 100, totalMs: 400 };
  const { results } = await runChecks(store, limits);
  expect(results.filter(({ ok }) => ok)).toEqual([]);
  expect(defaultLimits.totalMs).toBeLessThan(40_000);
});

test("a store that throws nonsense is reported, not passed on", { timeout: limitMs }, async () => {
  const nonsense = [undefined, null, Symbol("x"), Object.create(null)];
  const throws = () => {
    throw nonsense[Math.floor(Math.random() * nonsense.length)];
  };
  const store = new Proxy({}, { get: () => throws }) as SessionStore;
  const { results } = await runStoreConformance(store);
  expect(results.filter(({ ok }) => ok)).toEqual([]);
});

test("a value that is not a store is reported", { timeout: limitMs }, async () => {
  const { results } = await runStoreConformance(undefined as unknown as SessionStore);
  expect(results.filter(({ ok }) => ok)).toEqual([]);
});
