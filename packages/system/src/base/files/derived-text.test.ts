import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DerivedText } from "./derived-text.ts";
import { statOf } from "./file-stamp.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-derived-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

it("reads a file again once it was written, replaced or removed, and not before", () => {
  const path = join(directory, "a.txt");
  // All these files are old.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
  let reads = 0;
  const derived = new DerivedText(path, "none", (text) => {
    reads++;
    return text.toUpperCase();
  });
  const value = () => derived.of(statOf(path));
  expect(value()).toBe("none");
  writeFileSync(path, "one");
  expect([value(), value(), reads]).toEqual(["ONE", "ONE", 1]);
  writeFileSync(path, "longer");
  expect(value()).toBe("LONGER");
  writeFileSync(`${path}.new`, "zigzag");
  renameSync(`${path}.new`, path);
  expect([value(), reads]).toEqual(["ZIGZAG", 3]);
  rmSync(path);
  expect(value()).toBe("none");
});

it("reads a file again that was written just now", () => {
  const path = join(directory, "a.txt");
  let reads = 0;
  const derived = new DerivedText(path, 0, () => ++reads);
  const value = () => derived.of(statOf(path));
  writeFileSync(path, "one");
  expect([value(), value()]).toEqual([1, 2]);
});
