import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "./emitter.ts";

test("once", () => {
  const emitter = new Emitter();
  const seen: unknown[] = [];
  emitter.on("a", (value) => seen.push(["on", value]));
  emitter.once("a", (value) => {
    seen.push(["once", value]);
    emitter.emit("a", 2);
  });
  emitter.emit("a", 1);
  emitter.emit("a", 3);
  assert.deepEqual(seen, [["on", 1], ["once", 1], ["on", 2], ["on", 3]]);
});
