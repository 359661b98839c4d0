import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FolderFiles } from "./folder-files.ts";
import { ProtectedFiles } from "./protected-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-folder-"));
  // The folder has not changed recently, so missing files are remembered as missing.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const look = (files: FolderFiles) => files.stats().map((found) => found?.size);

it("notices a file that appears, grows, is replaced or disappears, however often it was missing", () => {
  const files = new FolderFiles(folder, ["a", "b"]);
  const path = join(folder, "a");
  expect([look(files), look(files)]).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
  writeFileSync(path, "1");
  expect(look(files)).toEqual([1n, undefined]);
  writeFileSync(path, "22");
  expect(look(files)).toEqual([2n, undefined]);
  writeFileSync(join(folder, "new"), "333");
  renameSync(join(folder, "new"), join(folder, "b"));
  expect(look(files)).toEqual([2n, 3n]);
  rmSync(path);
  expect(look(files)).toEqual([undefined, 3n]);
});

it("notices the target of a link once it exists", () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "tau-elsewhere-"));
  symlinkSync(join(elsewhere, "target"), join(folder, "a"));
  const files = new FolderFiles(folder, ["a"]);
  expect([look(files), look(files)]).toEqual([[undefined], [undefined]]);
  writeFileSync(join(elsewhere, "target"), "1");
  expect(look(files)).toEqual([1n]);
  rmSync(elsewhere, { recursive: true });
});

it("finds a folder that is created later", () => {
  const later = join(folder, "later");
  const files = new FolderFiles(later, ["a"]);
  const isProtected = new ProtectedFiles(later, ["a"]);
  expect(look(files)).toEqual([undefined]);
  renameSync(mkdtempSync(join(folder, "x-")), later);
  writeFileSync(join(later, "a"), "1");
  expect(look(files)).toEqual([1n]);
  const [found] = files.stats();
  expect(isProtected.includes("/other/name", found)).toBe(true);
});
