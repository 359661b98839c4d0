import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FileQueue } from "./file-queue.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-queue-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("runs changes of one file in order, even through a link and after a failure", async () => {
  writeFileSync(join(directory, "a"), "");
  mkdirSync(join(directory, "real"));
  symlinkSync(join(directory, "real"), join(directory, "link"));
  const queue = new FileQueue();
  const order: string[] = [];
  let release = () => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = queue.run(join(directory, "real", "new"), async () => {
    await slow;
    order.push("first");
    throw new TypeError("stop");
  });
  const second = queue.run(join(directory, "link", "new"), async () => void order.push("second"));
  await queue.run(join(directory, "a"), async () => void order.push("other"));
  release();
  await expect(first).rejects.toThrow("stop");
  await second;
  expect(order).toEqual(["other", "first", "second"]);
});
