import { existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { toolCall, Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { runEditTool } from "../edit/edit.ts";
import { runWriteTool } from "../write/write.ts";
import { ReadLedger } from "./read-ledger.ts";

/** The tree of an isolated subagent, next to a folder that the subagent must not change. */
function isolated() {
  const workspace = new Workspace();
  onTestFinished(() => workspace[Symbol.dispose]());
  workspace.write({ "tree/a.txt": "a\n", "tree/inner/b.txt": "b\n", "outside/c.txt": "c\n" });
  const root = realpathSync(workspace.path("tree"));
  const environment = {
    ...workspace.environment({ cwd: root, writeRoot: () => root }),
    readLedger: new ReadLedger(),
  };
  const outside = workspace.path("outside");
  return {
    workspace,
    root,
    outside,
    write: (path: string) => runWriteTool({ path, content: "new\n" }, environment, toolCall()),
    edit: (path: string) =>
      runEditTool({ path, edits: [{ oldText: "c\n", newText: "new\n" }] }, environment, toolCall()),
  };
}

describe("a subagent in an isolated tree", () => {
  it.each([
    ["an absolute link to a file", "../outside/c.txt", "link", true],
    ["a link to a folder", "../outside", "link/c.txt", false],
    ["a link to a file that is not there", "../outside/new.txt", "link", true],
    ["a link to a folder that is not there", "../outside/made", "link/new.txt", true],
  ])("cannot write through %s", async (_, target, path, isAbsolute) => {
    const { workspace, write, outside, root } = isolated();
    const shown = isAbsolute ? target.replace("../outside", outside) : target;
    symlinkSync(shown, workspace.path("tree/link"));
    await expect(write(path)).rejects.toThrow(
      `link is a link that leads out of ${root}, the tree of this isolated task`,
    );
    expect(workspace.read("outside/c.txt")).toBe("c\n");
    expect(existsSync(workspace.path("outside/new.txt"))).toBe(false);
    expect(existsSync(workspace.path("outside/made"))).toBe(false);
  });

  it("cannot edit through a link out of its tree, or next to its tree", async () => {
    const { workspace, edit, outside } = isolated();
    symlinkSync(outside, workspace.path("tree/inner/link"));
    await expect(edit("inner/link/c.txt")).rejects.toThrow("inner/link is a link that leads out");
    for (const path of [`${outside}/c.txt`, "../outside/c.txt"]) {
      await expect(edit(path)).rejects.toThrow(`Cannot write ${path}: it is outside of`);
    }
    expect(workspace.read("outside/c.txt")).toBe("c\n");
  });

  it("can write through links that stay inside its tree, and into new folders", async () => {
    const { workspace, write, root } = isolated();
    symlinkSync("inner", workspace.path("tree/link"));
    symlinkSync(`${root}/a.txt`, workspace.path("tree/absolute"));
    mkdirSync(workspace.path("tree/..named"));
    for (const path of ["link/b.txt", "absolute", "x/y/z.txt", "..named/f.txt"]) await write(path);
    for (const path of ["inner/b.txt", "a.txt", "x/y/z.txt", "..named/f.txt"]) {
      expect(workspace.read(`tree/${path}`)).toBe("new\n");
    }
  });
});
