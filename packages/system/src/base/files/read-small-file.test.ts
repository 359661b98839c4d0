import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readSmallFile } from "./read-small-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-small-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("reads a small file whole", () => {
  const path = join(folder, "a");
  const bytes = Buffer.from("é\0x".repeat(1000));
  writeFileSync(path, bytes);
  expect(readSmallFile(path)?.equals(bytes)).toBe(true);
});

it("returns undefined for large and empty files, folders and kernel files", () => {
  const [large, empty, inner] = ["large", "empty", "inner"].map((name) => join(folder, name));
  writeFileSync(large ?? "", Buffer.alloc(256 * 1024 + 1));
  writeFileSync(empty ?? "", "");
  mkdirSync(inner ?? "");
  for (const path of [large, empty, inner, "/dev/null", "/proc/self/status"]) {
    expect(readSmallFile(path ?? "")).toBeUndefined();
  }
});

it("throws the file system's error when there is no such file", () => {
  expect(() => readSmallFile(join(folder, "none"))).toThrow("ENOENT");
});
