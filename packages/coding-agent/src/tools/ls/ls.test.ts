import { symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { runLsTool } from "./ls.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

const ls = (args: { path?: string; limit?: number } = {}) =>
  runLsTool(args, workspace.environment(), toolCall());

it("lists names ignoring case, including dotfiles, with a slash after directories", async () => {
  workspace.write({ "b.txt": "", "A.txt": "", "c/x": "", ".env": "" });
  symlinkSync("c", workspace.path("link"));
  symlinkSync("nowhere", workspace.path("dangling"));
  expect(await ls()).toEqual({
    content: [{ type: "text", text: ".env\nA.txt\nb.txt\nc/\ndangling\nlink/" }],
  });
});

it("adds no notice at exactly the limit", async () => {
  workspace.write({ a: "", b: "", c: "" });
  expect(textOf(await ls({ limit: 3 }))).toBe("a\nb\nc");
  const cut = await ls({ limit: 2 });
  expect(textOf(cut)).toBe("a\nb\n\n[2 entries limit reached. Use limit=4 for more]");
  expect(cut.details).toEqual({ entryLimitReached: 2 });
});

it("truncates at 50KB with a notice", async () => {
  for (let index = 0; index < 300; index++) workspace.write({ [`${"n".repeat(200)}${index}`]: "" });
  const result = await ls();
  expect(textOf(result)).toMatch(/\n\n\[50\.0KB limit reached\]$/);
  expect(result.details).toMatchObject({ truncation: { truncatedBy: "bytes", totalLines: 300 } });
});

it("explains what is wrong with a path, and reports an empty folder", async () => {
  workspace.write({ file: "" });
  expect(textOf(await ls({ path: workspace.spillDirectory }))).toBe("(empty directory)");
  await expect(ls({ path: "none" })).rejects.toThrow("Path not found: none.");
  await expect(ls({ path: "file" })).rejects.toThrow("Not a directory: file.");
});
