import { fork } from "node:child_process";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { Git } from "../../git/git.ts";
import { changeOf, gitIn, isolate, repository, stateOf } from "../__fixtures__/isolated.ts";
import { mergeChanges } from "../merge-back.ts";
import { mendMerge } from "./apply-patch.ts";

const names = ["a.txt", "b.txt", "m.deadly", "z.txt", "link"];

/** A repository in which a file in the middle cannot be written, because its filter can be made to fail. */
function withFilter(): Workspace {
  const workspace = repository({
    ".gitattributes": "*.deadly filter=deadly\n",
    "b.txt": "b\n",
    "m.deadly": "m\n",
    "z.txt": "z\n",
  });
  symlinkSync("a.txt", workspace.path("link"));
  gitIn(workspace.directory, "config", "filter.deadly.clean", "cat");
  gitIn(workspace.directory, "config", "filter.deadly.smudge", "cat");
  gitIn(workspace.directory, "config", "filter.deadly.required", "true");
  return workspace;
}

/** Changes the filter command in the settings that git uses during a call. */
function smudge(run: string, command: string): void {
  for (const name of readdirSync(run).filter((found) => found.startsWith("settings-"))) {
    gitIn(run, "config", "--file", join(run, name, "config"), "filter.deadly.smudge", command);
  }
}

const filesOf = ({ directory }: Workspace) => ({
  ...stateOf(directory),
  names: readdirSync(directory),
  files: names.map((name) => {
    const { ino, mode, mtimeMs } = lstatSync(join(directory, name));
    const identity = name === "link" ? [] : [ino, mtimeMs];
    return [name, mode, ...identity, readFileSync(join(directory, name), "utf8")];
  }),
});

/** Starts a merge that kills its host, and returns the signal that killed it. */
function killedHost({ directory }: Workspace, root: string, victims = "both"): Promise<string> {
  const host = fork(
    join(import.meta.dirname, "../__fixtures__/merging-host.ts"),
    [directory, root, victims],
    { execArgv: ["-C", "@tau-agent/source"], stdio: ["ignore", "ignore", "inherit", "ipc"] },
  );
  return new Promise((resolve) => host.once("exit", (_, signal) => resolve(String(signal))));
}

describe("writing changes into the caller's files", () => {
  it("puts everything back when one of them cannot be written", async () => {
    const workspace = withFilter();
    const isolation = await isolate(workspace, { trusted: true });
    const tree = await isolation.createTree();
    const at = (name: string) => join(tree.cwd, name);
    for (const name of ["a.txt", "m.deadly", "z.txt", "new.txt"]) writeFileSync(at(name), "task\n");
    rmSync(at("b.txt"));
    rmSync(at("link"));
    symlinkSync("z.txt", at("link"));
    const change = await changeOf(isolation, "t", tree);
    const { folder } = isolation;
    smudge(folder.path, "false");
    const before = filesOf(workspace);
    const outcome = (await mergeChanges(isolation, [change])).get("t");
    expect(outcome).toMatchObject({
      status: "conflict",
      reason: expect.stringContaining("deadly"),
    });
    expect(filesOf(workspace)).toEqual(before);
    smudge(folder.path, "cat");
    expect((await mergeChanges(isolation, [change])).get("t")).toEqual({ status: "applied" });
    expect(existsSync(workspace.path("b.txt"))).toBe(false);
    expect(workspace.read("new.txt")).toBe("task\n");
    expect(workspace.read("link")).toBe("task\n");
  });

  it("writes the content of large files, of which a tree has only pointers", async () => {
    const workspace = withFilter();
    const { directory } = workspace;
    const smudge = 'if [ "$GIT_LFS_SKIP_SMUDGE" = 1 ]; then cat; else sed "s/^pointer to //"; fi';
    gitIn(directory, "config", "filter.deadly.smudge", smudge);
    gitIn(directory, "config", "filter.deadly.clean", 'sed "s/^pointer to //; s/^/pointer to /"');
    workspace.write({ "m.deadly": "large\n" });
    const isolation = await isolate(workspace, { trusted: true });
    const tree = await isolation.createTree();
    expect(readFileSync(join(tree.cwd, "m.deadly"), "utf8")).toBe("pointer to large\n");
    writeFileSync(join(tree.cwd, "m.deadly"), "other\n");
    await mergeChanges(isolation, [await changeOf(isolation, "t", tree)]);
    expect(workspace.read("m.deadly")).toBe("other\n");
  });

  it("puts everything back at the next start if git was killed together with the host", async () => {
    const workspace = withFilter();
    const before = filesOf(workspace);
    const root = join(workspace.spillDirectory, "worktrees");
    expect(await killedHost(workspace, root)).toBe("SIGKILL");
    expect(existsSync(workspace.path("b.txt"))).toBe(false);
    const [run = ""] = readdirSync(root);
    smudge(join(root, run), "cat");
    // As with a drive that is not mounted: nothing is created in its place.
    const elsewhere = `${workspace.directory}-elsewhere`;
    renameSync(workspace.directory, elsewhere);
    const mended = await mendMerge(join(root, run), new Git(workspace.environment()));
    const isThere = existsSync(workspace.directory);
    rmSync(workspace.directory, { recursive: true, force: true });
    renameSync(elsewhere, workspace.directory);
    expect([mended, isThere]).toEqual([false, false]);
    // Written content is recognised whatever its size.
    expect(await mendMerge(join(root, run), new Git(workspace.environment(), 1))).toBe(true);
    const isolation = await isolate(workspace, { trusted: true });
    expect(filesOf(workspace)).toEqual(before);
    await isolation.dispose();
    expect(readdirSync(root)).toEqual([]);
  });

  it("leaves completed writes of git and later changes of the user alone at the next start", async () => {
    const workspace = withFilter();
    const root = join(workspace.spillDirectory, "worktrees");
    expect(await killedHost(workspace, root, "alone")).toBe("SIGKILL");
    const [run = ""] = readdirSync(root);
    await expect.poll(() => existsSync(join(root, run, "merge.written"))).toBe(true);
    rmSync(workspace.path("new"), { recursive: true });
    gitIn(workspace.directory, "checkout", "-q", "b.txt");
    const isolation = await isolate(workspace, { trusted: true });
    expect(names.map((name) => workspace.read(name))).toEqual([
      "task\n",
      "b\n",
      "task\n",
      "task\n",
      "task\n",
    ]);
    expect(existsSync(workspace.path("new"))).toBe(false);
    await isolation.dispose();
    expect(readdirSync(root)).toEqual([]);
  });
});
