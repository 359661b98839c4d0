import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { runFindTool } from "./find.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
  workspace.write({
    "src/a.ts": "",
    "src/deep/b.ts": "",
    "src/deep/c.js": "",
    "lib/src/d.ts": "",
    ".hidden/e.ts": "",
    "-dash.ts": "",
    "node_modules/x/f.ts": "",
    ".gitignore": "node_modules\n",
    "with space.ts": "",
  });
});
afterEach(() => workspace[Symbol.dispose]());

const find = (pattern: string, rest: { path?: string; limit?: number } = {}) =>
  runFindTool({ pattern, ...rest }, workspace.environment(), toolCall());
const found = async (pattern: string, path?: string) =>
  textOf(await find(pattern, path === undefined ? {} : { path })).split("\n");

it.each([
  [
    "*.ts",
    ["-dash.ts", ".hidden/e.ts", "lib/src/d.ts", "src/a.ts", "src/deep/b.ts", "with space.ts"],
  ],
  ["src/**/*.ts", ["src/a.ts", "src/deep/b.ts"]],
  ["./src/*.ts", ["src/a.ts"]],
  ["**/deep", ["src/deep/"]],
  ["src", ["lib/src/", "src/"]],
  ["src/", ["lib/src/", "src/"]],
  ["-*", ["-dash.ts"]],
  ["*.{js,md}", ["src/deep/c.js"]],
  ["src/*/[bc].*", ["src/deep/b.ts", "src/deep/c.js"]],
  ["with space.ts", ["with space.ts"]],
])("%s finds %j", async (pattern, expected) => {
  expect((await found(pattern)).sort()).toEqual(expected);
});

it("returns paths relative to the searched directory, even through a link", async () => {
  symlinkSync("src", workspace.path("link"));
  expect(await found("*.ts", "link")).toEqual(["a.ts", "deep/b.ts"]);
  expect(await found("deep/*.ts", "src")).toEqual(["deep/b.ts"]);
  expect(await found(`${workspace.directory}/src/*.ts`)).toEqual(["src/a.ts"]);
});

it("reports when there is nothing, or more than the limit", async () => {
  expect(await found("*.go")).toEqual(["No files found matching pattern"]);
  const exact = await find("*.ts", { limit: 6 });
  expect(exact.details).toBeUndefined();
  const cut = await find("*.ts", { limit: 2 });
  expect(textOf(cut)).toMatch(/\n\n\[2 results limit reached\. Use limit=4 for more/);
  expect(cut.details).toEqual({ resultLimitReached: 2 });
});

it("explains what is wrong with a path", async () => {
  await expect(find("*", { path: "none" })).rejects.toThrow("Path not found: none.");
  await expect(find("*", { path: "src/a.ts" })).rejects.toThrow("Not a directory: src/a.ts.");
});

it("answers quickly for patterns that would take a regular expression hours", async () => {
  const stars = "*a".repeat(40);
  workspace.write({ [`${"a".repeat(200)}.txt`]: "", ".gitignore": `${stars}b\nnode_modules\n` });
  const began = performance.now();
  expect(await found(`${stars}b`)).toEqual(["No files found matching pattern"]);
  expect((await found("*.txt"))[0]).toMatch(/^a+\.txt$/);
  expect(performance.now() - began).toBeLessThan(2000);
});

it("does not wait for a pipe that is named .gitignore", async () => {
  execFileSync("mkfifo", [workspace.path("src", ".gitignore")]);
  expect(await found("a.ts")).toEqual(["src/a.ts"]);
});
