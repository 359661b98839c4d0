import { chmodSync, symlinkSync } from "node:fs";
import { rgPath } from "@vscode/ripgrep";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { type GrepArguments, runGrepTool } from "./grep.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

describe.each([
  ["with ripgrep", rgPath],
  ["without ripgrep", null],
  ["with a ripgrep that cannot be started", "/no/such/rg"],
])("%s", (_title, ripgrep) => {
  const grep = (args: GrepArguments, call = toolCall()) =>
    runGrepTool(args, workspace.environment({ ripgrep }), call);
  const lines = async (args: GrepArguments) => textOf(await grep(args)).split("\n");

  it("returns path, line number and text, sorted by path", async () => {
    workspace.write({ "b.txt": "x\nneedle 1\n", "a/c.txt": "needle 2\r\n", "d.txt": "none" });
    expect(await grep({ pattern: "needle" })).toEqual({
      content: [{ type: "text", text: "a/c.txt:1: needle 2\nb.txt:2: needle 1" }],
    });
    expect(await lines({ pattern: "missing" })).toEqual(["No matches found"]);
    expect(await lines({ pattern: "needle", path: "a/c.txt" })).toEqual(["c.txt:1: needle 2"]);
  });

  it("returns as many matches as the limit allows, sorted by path", async () => {
    const paths = ["a/z", "a-b/x", "a.txt", "b", "é", "\u{1f600}"];
    const all = paths.flatMap((path) => [1, 2, 3, 4].map((line) => `${path}:${line}: hit`));
    workspace.write(Object.fromEntries(paths.map((path) => [path, "hit\n".repeat(4)])));
    expect(await lines({ pattern: "hit", limit: all.length })).toEqual(all);
    const [shown = "", notice] = textOf(await grep({ pattern: "hit", limit: 5 })).split("\n\n");
    const some = shown.split("\n");
    expect(some).toHaveLength(5);
    expect(all.filter((line) => some.includes(line))).toEqual(some);
    expect(notice).toMatch(/^\[5 matches limit reached\./);
  });

  it("ends the search at the limit, however much is left", async () => {
    const files = Array.from({ length: 300 }, (_, index) => [`f${index}`, "hit\n".repeat(50)]);
    workspace.write(Object.fromEntries(files));
    const result = await grep({ pattern: "hit", limit: 100 });
    expect(textOf(result).split("\n\n")[0]?.split("\n")).toHaveLength(100);
    expect(result.details).toEqual({ matchLimitReached: 100 });
  });

  it("returns each context line once", async () => {
    workspace.write({ f: "1\n2\nhit\n4\nhit\n6\n7\n8\n" });
    expect(await lines({ pattern: "hit", context: 1 })).toEqual([
      "f-2- 2",
      "f:3: hit",
      "f-4- 4",
      "f:5: hit",
      "f-6- 6",
    ]);
  });

  it("accepts patterns that begin with a dash, plain text and case", async () => {
    workspace.write({ f: "--help\na.b\naXb\nÄ\n" });
    expect(await lines({ pattern: "--help" })).toEqual(["f:1: --help"]);
    expect(await lines({ pattern: "a.b", literal: true })).toEqual(["f:2: a.b"]);
    expect(await lines({ pattern: "A.B", ignoreCase: true })).toEqual(["f:2: a.b", "f:3: aXb"]);
    expect(await lines({ pattern: "ä", ignoreCase: true })).toEqual(["f:4: Ä"]);
    expect(await lines({ pattern: "a(?!\\.)." })).toEqual(["f:3: aXb"]);
  });

  it("leaves out what git ignores, even if a glob would match it", async () => {
    workspace.write({
      ".gitignore": "*.gen.ts\nout/\n",
      ".git/config.ts": "hit",
      "a.ts": "hit",
      "a.gen.ts": "hit",
      "out/b.ts": "hit",
      ".github/c.ts": "hit",
      "sub/.gitignore": "d.ts\n",
      "sub/d.ts": "hit",
      "other/d.ts": "hit",
    });
    const expected = [".github/c.ts:1: hit", "a.ts:1: hit", "other/d.ts:1: hit"];
    expect((await lines({ pattern: "hit" })).sort()).toEqual(expected);
    expect((await lines({ pattern: "hit", glob: "*.ts" })).sort()).toEqual(expected);
  });

  it("accepts globs relative to the searched path, even through a link", async () => {
    workspace.write({
      "src/dir/a.go": "hit",
      "src/dir/deep/b.go": "hit",
      "src/c.go": "hit",
      "src/c.min.js": "hit",
    });
    symlinkSync("src", workspace.path("link"));
    const files = async (glob: string, path = "link") =>
      (await lines({ pattern: "hit", glob, path })).map((line) => line.split(":")[0]);
    expect(await files("*.go")).toEqual(["c.go", "dir/a.go", "dir/deep/b.go"]);
    expect(await files("./dir/*.go")).toEqual(["dir/a.go"]);
    expect(await files("dir/**")).toEqual(["dir/a.go", "dir/deep/b.go"]);
    expect(await files("**/*.{go,rs}")).toEqual(["c.go", "dir/a.go", "dir/deep/b.go"]);
    expect(await files("!*.go")).toEqual(["c.min.js"]);
    expect(await files("!dir")).toEqual(["c.go", "c.min.js"]);
    expect(await files("src/*.js", ".")).toEqual(["src/c.min.js"]);
  });

  it("adds no notice at exactly the limit, and stops beyond it", async () => {
    workspace.write({ f: "before\nhit\nbetween\nhit\nafter\nmore\nhit\n" });
    expect((await grep({ pattern: "hit", limit: 3 })).details).toBeUndefined();
    const cut = await grep({ pattern: "hit", limit: 2, context: 1 });
    expect(textOf(cut).split("\n\n")[0]).toBe(
      "f-1- before\nf:2: hit\nf-3- between\nf:4: hit\nf-5- after",
    );
    expect(textOf(cut)).toMatch(/\n\n\[2 matches limit reached\. Use limit=4 for more/);
    expect(cut.details).toEqual({ matchLimitReached: 2 });
  });

  it("truncates long lines and long results", async () => {
    workspace.write({ f: `hit ${"😀".repeat(400)}\n${`hit ${"y".repeat(300)}\n`.repeat(300)}` });
    const result = await grep({ pattern: "hit", limit: 1000 });
    const text = textOf(result);
    expect(text.split("\n")[0]).toBe(`f:1: hit ${"😀".repeat(248)}... [truncated]`);
    expect(text).toMatch(
      /\n\n\[Some lines truncated to 500 chars\. Use read to see them whole\. 50\.0KB limit reached\]$/,
    );
    expect(result.details).toMatchObject({ linesTruncated: true, truncation: { truncated: true } });
  });

  it("reads UTF-16, skips binary files, and counts lines by LF only", async () => {
    workspace.write({
      "a-wide": Buffer.from("\uFEFFx\nhit é\n", "utf16le"),
      "b-binary": Buffer.from("\0\0\0hit\n"),
      "c-returns": "x\ry\nhit\n",
    });
    expect(await lines({ pattern: "^hit" })).toEqual(["a-wide:2: hit é", "c-returns:2: hit"]);
  });

  it("explains what is wrong with a pattern or a path", async () => {
    workspace.write({ f: "x" });
    await expect(grep({ pattern: "(" })).rejects.toThrow(/Cannot search for "\(": .*literal/s);
    await expect(grep({ pattern: "" })).rejects.toThrow("The pattern is empty.");
    await expect(grep({ pattern: "x", path: "none" })).rejects.toThrow("Path not found: none.");
    const device = { pattern: "x", path: "/dev/zero" };
    await expect(grep(device)).rejects.toThrow("/dev/zero is not a regular file.");
  });

  it("stops when it is aborted", async () => {
    workspace.write({ f: "x" });
    const call = toolCall(AbortSignal.abort());
    await expect(grep({ pattern: "x" }, call)).rejects.toThrow();
  });
});

describe.skipIf(process.platform === "win32")("a ripgrep process", () => {
  const summary = `echo '{"type":"summary","data":{}}'`;
  const grep = async (script: string) => {
    workspace.write({ "bin/rg": `#!/bin/sh\n${script}\n`, f: "hit" });
    const ripgrep = workspace.path("bin/rg");
    chmodSync(ripgrep, 0o755);
    return textOf(
      await runGrepTool({ pattern: "hit" }, workspace.environment({ ripgrep }), toolCall()),
    );
  };

  it.each([
    [
      "has no sandbox",
      "echo 'bwrap: no place' >&2; exit 1",
      /with exit code 1 .*: bwrap: no place/,
    ],
    ["fails", "echo 'no more threads' >&2; exit 101", /with exit code 101 .*: no more threads/],
    ["is killed", "kill -9 $$", /by SIGKILL before it had searched everything\n/],
    ["says nothing", "exit 0", /with exit code 0 before it had searched everything\n/],
  ])("leads to an error if it %s before the search is complete", async (_title, script, reason) => {
    await expect(grep(script)).rejects.toThrow(reason);
  });

  it("counts as complete if it only warns", async () => {
    const warn = "echo 'rg: ./.gitignore: line 1: unclosed class' >&2";
    expect(await grep(`${warn}; ${summary}; exit 1`)).toBe("No matches found");
    // It could not read a file, and was told not to report that.
    expect(await grep(`${summary}; exit 2`)).toBe("No matches found");
  });
});
