import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DerivedText } from "./derived-text.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-derived-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

it("reads a file again once it was written, replaced or removed, and not before", () => {
  const path = join(directory, "a.txt");
  let reads = 0;
  const derived = new DerivedText(path, "none", (text) => {
    reads++;
    return text.toUpperCase();
  });
  expect(derived.value).toBe("none");
  writeFileSync(path, "one");
  expect([derived.value, derived.value, reads]).toEqual(["ONE", "ONE", 1]);
  writeFileSync(path, "longer");
  expect(derived.value).toBe("LONGER");
  writeFileSync(`${path}.new`, "zigzag");
  renameSync(`${path}.new`, path);
  expect([derived.value, reads]).toEqual(["ZIGZAG", 3]);
  rmSync(path);
  expect(derived.value).toBe("none");
});
