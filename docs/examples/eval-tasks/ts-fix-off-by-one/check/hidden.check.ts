import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf } from "./page.ts";

test("pages", () => {
  assert.deepEqual(pageOf([1, 2, 3, 4, 5], 1, 2), [1, 2]);
  assert.deepEqual(pageOf([1, 2, 3, 4, 5], 3, 2), [5]);
  assert.deepEqual(pageOf([1, 2], 2, 2), []);
});
