import { expect, it } from "vitest";
import { passes, summarize } from "./measurement.ts";
import { table } from "./table.ts";

const host = { min: 2, median: 3, count: 5 };

it("summarizes results by their best and their median", () => {
  expect(summarize([3, 1, 2])).toEqual({ min: 1, median: 2, count: 3 });
  expect(summarize([4, 1, 2, 3])).toEqual({ min: 1, median: 2.5, count: 4 });
});

it("misses a target when the ratio exceeds it, is missing or is not a number", () => {
  const row = { what: "x", unit: "ms", host, target: 1.3 };
  expect(passes({ ...row, ratio: 1.3 })).toBe(true);
  expect(passes({ ...row, ratio: 1.31 })).toBe(false);
  expect(passes({ ...row, ratio: Number.NaN })).toBe(false);
  expect(passes(row)).toBe(false);
  expect(passes({ what: "x", unit: "ms", host })).toBe(true);
});

it("shows in the table which rows passed and failed", () => {
  const row = { what: "start", unit: "ms", host, floor: host, ratioOf: "host / node", target: 1.8 };
  const text = table([
    { ...row, ratio: 1.5 },
    { ...row, ratio: 2 },
  ]);
  expect(text).toMatch(/start +2\.00 +3\.00 ms +2\.00 +host \/ node +1\.50 +1\.80 +pass/);
  expect(text).toMatch(/2\.00 +1\.80 +FAIL/);
});
