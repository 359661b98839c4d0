import assert from "node:assert/strict";
import { test } from "node:test";
import { deepEqual } from "./equal.ts";

test("values", () => {
  assert.ok(deepEqual({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] }));
  assert.ok(deepEqual(Number.NaN, Number.NaN));
  assert.ok(!deepEqual({ a: undefined }, { b: undefined }));
  assert.ok(!deepEqual([1, 2], [2, 1]));
  assert.ok(!deepEqual({ 0: 1 }, [1]));
  assert.ok(!deepEqual(null, {}));
});
