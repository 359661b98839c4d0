import fc from "fast-check";
import { expect, it } from "vitest";
import { formatDuration } from "./duration.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

it.each([
  [0, "0 ms"],
  [350.4, "350 ms"],
  [999.7, "1 s"],
  [4200, "4.2 s"],
  [9960, "10 s"],
  [12 * second, "12 s"],
  [59.6 * second, "1 min"],
  [2 * minute + 3 * second, "2 min 3 s"],
  [hour - 100, "1 h"],
  [hour + 5 * minute, "1 h 5 min"],
  [day - 1, "1 d"],
  [3 * day + 4 * hour, "3 d 4 h"],
])("writes %d ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

it("never fills a unit, and is off by at most half of the smallest unit shown", () => {
  const lengths = { ms: 1, s: second, min: minute, h: hour, d: day };
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 * day }), (ms) => {
      const parts = [...formatDuration(ms).matchAll(/([\d.]+) (ms|s|min|h|d)/g)].map(
        ([, count, unit]) => ({ count: Number(count), unit: unit as keyof typeof lengths }),
      );
      const limits = { ms: 1000, s: 60, min: 60, h: 24, d: 99 };
      for (const { count, unit } of parts) expect(count).toBeLessThan(limits[unit]);
      const total = parts.reduce((sum, { count, unit }) => sum + count * lengths[unit], 0);
      const next = { ms: 1, s: second, min: second, h: minute, d: hour };
      const [first] = parts;
      expect(Math.abs(total - ms)).toBeLessThanOrEqual(next[first?.unit ?? "ms"] / 2);
    }),
  );
});
