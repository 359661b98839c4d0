import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCents, shareOf } from "../src/money.js";

test("rounds a share to the nearest cent", () => {
  assert.equal(shareOf(1000, 1, 3), 333);
  assert.equal(shareOf(1000, 2, 3), 667);
});

test("groups thousands", () => {
  assert.equal(formatCents(123450), "1,234.50");
  assert.equal(formatCents(-99), "-0.99");
});
