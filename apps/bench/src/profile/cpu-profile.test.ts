import { expect, it } from "vitest";
import { SelfTimes, type V8Profile } from "./cpu-profile.ts";

const node = (id: number, functionName: string, url = "file:///tau/chunk.js") => ({
  id,
  callFrame: { functionName, url, lineNumber: 1 },
});

/** Samples 100 µs apart, starting at 1 ms. */
const profile = (samples: readonly number[], deltas = samples.map(() => 100)): V8Profile => ({
  nodes: [
    node(1, "(idle)", ""),
    node(2, "encode"),
    node(3, "write", "node:net"),
    node(4, "(garbage collector)", ""),
  ],
  startTime: 900,
  samples,
  timeDeltas: [...deltas, 0],
});

it("adds up the time of functions during a measurement, without waiting", () => {
  const times = new SelfTimes();
  times.add(profile([2, 2, 1, 3, 4, 2, 1]), [
    { from: 1, to: 1.35 },
    { from: 1.4, to: 1.5 },
  ]);
  const found = times.top(9).map(({ name, ms }) => [name, Math.round(ms * 10)]);
  expect(found).toEqual([
    ["encode", 2],
    ["write, node:net", 1],
    ["garbage collection", 1],
  ]);
  expect(times.totalMs).toBeCloseTo(0.4);
});

it("excludes the time in which another process ran", () => {
  const times = new SelfTimes();
  times.add(profile([2, 3], [100, 80_000]), [{ from: 0, to: 1_000 }]);
  expect(times.top(1)[0]?.ms).toBeCloseTo(0.5);
});
