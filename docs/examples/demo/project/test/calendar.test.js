import assert from "node:assert/strict";
import { test } from "node:test";
import { daysInMonth, isSameMonth, parseDay } from "../src/calendar.js";

test("reads a day", () => {
  assert.deepEqual(parseDay("2026-04-16"), { year: 2026, month: 4, day: 16 });
});

test("refuses what is no day", () => {
  assert.throws(() => parseDay("16.4.2026"), RangeError);
});

test("knows the length of a month", () => {
  assert.equal(daysInMonth(2026, 8), 31);
  assert.equal(daysInMonth(2026, 1), 31);
});

test("tells months apart", () => {
  assert.equal(isSameMonth("2026-04-01", "2026-04-30"), true);
  assert.equal(isSameMonth("2026-04-30", "2026-05-01"), false);
});
