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

it("leaves large and empty files, folders and files of the kernel alone", () => {
  const [large, empty, inner] = ["large", "empty", "inner"].map((name) => join(folder, name));
  writeFileSync(large ?? "", Buffer.alloc(256 * 1024 + 1));
  writeFileSync(empty ?? "", "");
  mkdirSync(inner ?? "");
  for (const path of [large, empty, inner, "/dev/null", "/proc/self/status"]) {
    expect(readSmallFile(path ?? "")).toBeUndefined();
  }
});

it("fails as the file system does when there is no such file", () => {
  expect(() => readSmallFile(join(folder, "none"))).toThrow("ENOENT");
});
