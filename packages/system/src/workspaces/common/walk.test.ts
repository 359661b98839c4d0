import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workspace } from "../../processes/__fixtures__/workspace.ts";
import { walk } from "./walk.ts";

const source = {
  list: async (folder: string) => {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.map((entry) => ({
      name: entry.name,
      kind: entry.isDirectory()
        ? ("directory" as const)
        : entry.isFile()
          ? ("file" as const)
          : ("symlink" as const),
    }));
  },
  text: async (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : ""),
};

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

async function paths(below = "", signal = new AbortController().signal): Promise<string[]> {
  const found: string[] = [];
  for await (const entries of walk(workspace.path(below), { signal, source })) {
    found.push(...entries.map(({ path, isDirectory }) => (isDirectory ? `${path}/` : path)));
  }
  return found;
}

it("applies rules of nested .gitignore files to their own directories only", async () => {
  workspace.write({
    ".gitignore": "*.log\nbuild/\n",
    "a/.gitignore": "secret.txt\n!keep.log\n",
    "a/secret.txt": "",
    "a/keep.log": "",
    "a/other.log": "",
    "b/secret.txt": "",
    "b/x.log": "",
    "build/out.js": "",
    "c/build/deep/out.js": "",
  });
  expect(await paths()).toEqual([
    ".gitignore",
    "a/",
    "a/.gitignore",
    "a/keep.log",
    "b/",
    "b/secret.txt",
    "c/",
  ]);
});

it("ignores outer rules in a nested repository", async () => {
  workspace.write({
    ".git/HEAD": "",
    ".gitignore": "*.txt\n",
    "inner/.git/info/exclude": "*.tmp\n",
    "inner/a.txt": "",
    "inner/b.tmp": "",
    "x.txt": "",
  });
  expect(await paths()).toEqual([".gitignore", "inner/", "inner/a.txt"]);
});

it("applies the rules above its start directory, up to the top of the repository", async () => {
  workspace.write({
    ".gitignore": "nothing-of-this*\n",
    "repo/.git/HEAD": "",
    "repo/.gitignore": "/sub/anchored.txt\n*.gen\n",
    "repo/sub/anchored.txt": "",
    "repo/sub/x.gen": "",
    "repo/sub/nothing-of-this.txt": "",
  });
  expect(await paths("repo/sub")).toEqual(["nothing-of-this.txt"]);
});

it("does not follow links and ends when it is aborted", async () => {
  mkdirSync(workspace.path("real"));
  symlinkSync("..", workspace.path("real", "loop"));
  expect(await paths()).toEqual(["real/", "real/loop"]);
  await expect(paths("", AbortSignal.abort())).rejects.toThrow();
});
