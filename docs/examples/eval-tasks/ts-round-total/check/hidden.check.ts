import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./sum.ts";

test("rounds to decimals", () => {
  assert.equal(total([0.1, 0.2]), 0.3);
  assert.equal(total([1.005, 2], 0), 3);
  assert.equal(total([], 3), 0);
  assert.equal(total([1.2345], 3), 1.235);
});
