import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openRegularFile } from "./open-regular-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-open-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("opens a regular file", async () => {
  writeFileSync(join(folder, "a"), "text");
  const file = await openRegularFile(join(folder, "a"));
  expect(await file?.readFile("utf8")).toBe("text");
  await file?.close();
});

it("does not open a folder, and does not wait for a pipe without a writer", async () => {
  execFileSync("mkfifo", [join(folder, "pipe")]);
  expect(await openRegularFile(folder)).toBeUndefined();
  expect(await openRegularFile(join(folder, "pipe"))).toBeUndefined();
});
