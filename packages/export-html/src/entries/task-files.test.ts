import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { taskFilesOf } from "./task-files.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-task-files-"));
  mkdirSync(join(directory, "session"));
  writeFileSync(join(directory, "session/a.patch"), "a patch");
});
afterEach(() => rmSync(directory, { recursive: true }));

const read = (path: unknown, parent?: string) =>
  taskFilesOf(join(directory, "session.jsonl"), parent).read(path, ".patch", 100);

it("reads files beside the session, wherever the session was when they were written", async () => {
  const found = { text: "a patch", isCut: false };
  expect(await read(join(directory, "session/a.patch"))).toEqual(found);
  expect(await read("/before/it/moved/a.patch")).toEqual(found);
  expect(await read("C:\\before\\a.patch")).toEqual(found);
});

it("reads the files of the session from which this one was forked", async () => {
  const fork = taskFilesOf(join(directory, "fork.jsonl"), join(directory, "session.jsonl"));
  expect(await fork.read("/x/a.patch", ".patch", 100)).toEqual({ text: "a patch", isCut: false });
});

it("reads the temporary files of a session without a file", async () => {
  const folder = join(directory, "tau-tasks-0a1b2c");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.patch"), "another");
  const files = taskFilesOf(undefined, undefined);
  const found = { text: "another", isCut: false };
  expect(await files.read(join(folder, "a.patch"), ".patch", 100)).toEqual(found);
  const other = join(directory, "session/a.patch");
  expect(await files.read(other, ".patch", 100)).toBeUndefined();
  expect(await read(join(folder, "b.patch"))).toBeUndefined();
});

it("reads no other files, whatever path a session names", async () => {
  writeFileSync(join(directory, "outside.patch"), "secret");
  writeFileSync(join(directory, "session/key"), "secret");
  symlinkSync(join(directory, "outside.patch"), join(directory, "session/link.patch"));
  mkdirSync(join(directory, "session/folder.patch"));
  mkdirSync(join(directory, "other"));
  writeFileSync(join(directory, "other/b.patch"), "secret");
  const paths = [
    join(directory, "outside.patch"),
    "../outside.patch",
    "session/key",
    "link.patch",
    "folder.patch",
    "..",
    undefined,
    7,
  ];
  for (const path of paths) expect(await read(path)).toBeUndefined();
  for (const parent of ["/elsewhere/other.jsonl/..", "..", "other"]) {
    expect(await read("b.patch", parent)).toBeUndefined();
  }
});

it("cuts files that are too long", async () => {
  writeFileSync(join(directory, "session/long.patch"), "x".repeat(500));
  expect(await read("long.patch")).toEqual({ text: "x".repeat(100), isCut: true });
});
