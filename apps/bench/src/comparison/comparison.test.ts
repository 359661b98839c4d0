import { expect, it } from "vitest";
import { type Comparison, floorRatio, holds, peerRatio } from "./comparison.ts";
import { comparisonTable } from "./comparison-table.ts";

const result = (median: number) => ({ min: median / 2, median, count: 3 });
const row: Comparison = {
  name: "start",
  what: "spawn → first answer",
  unit: "ms",
  peer: 0.5,
  floor: 2,
  tau: result(40),
  peers: [
    { name: "slow", result: result(400) },
    { name: "quick", result: result(100) },
  ],
  floorResult: result(20),
  failures: [],
};

it("compares medians with the best peer and with the floor", () => {
  expect([peerRatio(row), floorRatio(row)]).toEqual([0.4, 2]);
});

it("misses a row when a ratio exceeds its target, or Tau has no result", () => {
  expect(holds(row)).toBe(true);
  expect(holds({ ...row, tau: result(51) })).toBe(false);
  expect(holds({ ...row, floorResult: result(19) })).toBe(false);
  expect(holds({ ...row, most: 39 })).toBe(false);
  const { tau: _, ...unmeasured } = row;
  expect(holds(unmeasured)).toBe(false);
});

it("cannot miss a row that has nothing to compare with", () => {
  const { floorResult: _, ...rest } = row;
  expect(holds({ ...rest, peers: [] })).toBe(true);
});

it("shows both ratios next to their targets", () => {
  const text = comparisonTable([row, { ...row, name: "late", tau: result(80) }]);
  expect(text).toMatch(/start +40\.0 ms +100 ms +20\.0 ms +0\.40 +≤ 0\.5 +2\.00 +≤ 2 +ok/);
  expect(text).toMatch(/late .* 0\.80 +≤ 0\.5 +4\.00 +≤ 2 +MISSED/);
});

it("does not mark a row as passed if its peer has no result", () => {
  expect(comparisonTable([{ ...row, peers: [] }])).toMatch(/start .* ≤ 2 +not compared$/m);
});
