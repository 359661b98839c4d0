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

it("reads a file again only after it was written, replaced or removed", () => {
  const path = join(directory, "a.txt");
  // All these files are too old to be read again as recently written.
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

it("reads a file again that was written a moment ago", () => {
  const path = join(directory, "a.txt");
  let reads = 0;
  const derived = new DerivedText(path, 0, () => ++reads);
  const value = () => derived.of(statOf(path));
  writeFileSync(path, "one");
  expect([value(), value()]).toEqual([1, 2]);
});
