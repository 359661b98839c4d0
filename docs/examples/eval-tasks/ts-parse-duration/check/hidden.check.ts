import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "./duration.ts";

test("durations", () => {
  assert.equal(parseDuration("90s"), 90_000);
  assert.equal(parseDuration("1h30m"), 5_400_000);
  assert.equal(parseDuration("2d 4h"), 187_200_000);
  assert.equal(parseDuration("250ms"), 250);
  for (const text of ["", "5", "h1", "1h30", "1x", "1h-3m"]) {
    assert.throws(() => parseDuration(text), RangeError, text);
  }
});
