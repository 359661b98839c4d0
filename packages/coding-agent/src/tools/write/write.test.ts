import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { ReadLedger } from "../common/read-ledger.ts";
import { runWriteTool } from "./write.ts";

let workspace: Workspace;
let readLedger: ReadLedger;
beforeEach(() => {
  workspace = new Workspace();
  readLedger = new ReadLedger();
});
afterEach(() => workspace[Symbol.dispose]());

const write = (path: string, content: string, call = toolCall()) =>
  runWriteTool({ path, content }, { ...workspace.environment(), readLedger }, call);

it("creates a file with its parent folders and counts UTF-8 bytes", async () => {
  const result = await write("a/b/new.txt", "é😀\n");
  expect(result).toEqual({
    content: [{ type: "text", text: "Successfully wrote 7 bytes to a/b/new.txt" }],
  });
  expect(workspace.read("a/b/new.txt")).toBe("é😀\n");
  expect(statSync(workspace.path("a/b/new.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
});

it("replaces a file, keeps its mode and leaves no temporary file", async () => {
  workspace.write({ "run.sh": "old" });
  chmodSync(workspace.path("run.sh"), 0o755);
  await write("run.sh", "new");
  expect(workspace.read("run.sh")).toBe("new");
  expect(statSync(workspace.path("run.sh")).mode & 0o777).toBe(0o755);
  expect(readdirSync(workspace.directory)).toEqual(["run.sh"]);
});

it("writes through links, even to a missing file, and to all hard links of a file", async () => {
  symlinkSync("target.txt", workspace.path("link"));
  await write("link", "first");
  await write("link", "second");
  expect(lstatSync(workspace.path("link")).isSymbolicLink()).toBe(true);
  expect(workspace.read("target.txt")).toBe("second");
  linkSync(workspace.path("target.txt"), workspace.path("other-name"));
  await write("target.txt", "third");
  expect(workspace.read("other-name")).toBe("third");
});

it("reports a directory, a file in the path, and a full disk", async () => {
  workspace.write({ "dir/file": "x" });
  await expect(write("dir", "y")).rejects.toThrow("dir is a directory, not a file.");
  await expect(write("dir/file/below", "y")).rejects.toThrow(
    "Cannot write dir/file/below: a part of the path is a file, not a directory.",
  );
  symlinkSync("/dev/full", workspace.path("full"));
  await expect(write("full", "y")).rejects.toThrow(
    "No space left on the device: cannot write full. Free some space and try again.",
  );
});

it("reports a place where writing is forbidden", async () => {
  await expect(write("/proc/sys/kernel/ostype", "y")).rejects.toThrow(
    /(Permission denied|not permitted).*cannot write \/proc\/sys\/kernel\/ostype/,
  );
});

it("refuses to write back only the part of a file that was shown", async () => {
  workspace.write({ "long.txt": "1\n2\n3\n" });
  readLedger.note(workspace.path("long.txt"), "1\n2");
  await expect(write("long.txt", "1\n2\n")).rejects.toThrow("Refused to write long.txt");
  expect(textOf(await write("long.txt", "1\n2\n3"))).toContain("5 bytes");
});

it("writes nothing once aborted", async () => {
  await expect(write("x", "y", toolCall(AbortSignal.abort()))).rejects.toThrow();
  expect(readdirSync(workspace.directory)).toEqual([]);
});

it("replaces a long file with an empty one", async () => {
  workspace.write({ big: "" });
  truncateSync(workspace.path("big"), 1_000_000);
  await write("big", "");
  expect(statSync(workspace.path("big")).size).toBe(0);
});

it("refuses a pipe, on which it would wait for a reader", async () => {
  execFileSync("mkfifo", [workspace.path("pipe")]);
  await expect(write("pipe", "x")).rejects.toThrow("pipe is not a regular file.");
});
