import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { changeOf, gitIn, isolate, repository, stateOf } from "../__fixtures__/isolated.ts";
import { makeBranch, mergeChanges } from "../merge-back.ts";

/** A clone of a repository with a submodule `lib`. */
function withSubmodule(): Workspace {
  const library = repository({ "lib.txt": "1\n2\n3\n4\n5\n" });
  gitIn(library.directory, "commit", "-q", "--allow-empty", "-m", "later");
  const workspace = repository();
  const { directory } = workspace;
  const allow = ["-c", "protocol.file.allow=always"];
  gitIn(directory, ...allow, "submodule", "--quiet", "add", library.directory, "lib");
  gitIn(directory, "commit", "-qm", "with a submodule");
  return workspace;
}

describe("changes in a submodule", () => {
  it("are merged back with the others, whether committed there or not", async () => {
    const workspace = withSubmodule();
    const { directory } = workspace;
    workspace.write({ "lib/lib.txt": "mine\n2\n3\n4\n5\n" });
    const lib = workspace.path("lib");
    const states = () => [directory, lib].map((path) => ({ ...stateOf(path), status: "" }));
    const before = states();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    expect(readdirSync(join(tree.cwd, "lib"))).toEqual([]);
    // Nothing has to be fetched for that.
    gitIn(tree.cwd, "submodule", "--quiet", "update", "--init");
    writeFileSync(join(tree.cwd, "lib/new.txt"), "committed\n");
    gitIn(join(tree.cwd, "lib"), "add", ".");
    gitIn(join(tree.cwd, "lib"), "commit", "-qm", "inside");
    gitIn(tree.cwd, "commit", "-qam", "moved");
    writeFileSync(join(tree.cwd, "lib/lib.txt"), "1\n2\n3\n4\ntask\n");
    writeFileSync(join(tree.cwd, "a.txt"), "task\n");
    const change = await changeOf(isolation, "t", tree);
    expect(change.statistics).toMatchObject({
      filesChanged: 3,
      files: ["a.txt", "lib/lib.txt", "lib/new.txt"],
    });
    expect((await mergeChanges(isolation, [change])).get("t")).toEqual({ status: "applied" });
    expect(workspace.read("lib/lib.txt")).toBe("mine\n2\n3\n4\ntask\n");
    expect(workspace.read("lib/new.txt")).toBe("committed\n");
    expect(workspace.read("a.txt")).toBe("task\n");
    await isolation.dispose();
    expect(states()).toEqual(before);
  });

  it("leave all files unchanged if one of them conflicts, and are all in the patch", async () => {
    const workspace = withSubmodule();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    gitIn(tree.cwd, "submodule", "--quiet", "update", "--init");
    writeFileSync(join(tree.cwd, "lib/lib.txt"), "task\n2\n3\n4\n5\n");
    writeFileSync(join(tree.cwd, "a.txt"), "task\n");
    const change = await changeOf(isolation, "t", tree);
    workspace.write({ "lib/lib.txt": "user\n2\n3\n4\n5\n" });
    const outcome = (await mergeChanges(isolation, [change])).get("t");
    expect(outcome).toMatchObject({
      status: "conflict",
      reason: expect.stringContaining("lib.txt"),
    });
    expect(workspace.read("lib/lib.txt")).toBe("user\n2\n3\n4\n5\n");
    expect(workspace.read("a.txt")).toBe("one\ntwo\nthree\n");
    workspace.write({ "lib/lib.txt": "1\n2\n3\n4\n5\n" });
    gitIn(workspace.directory, "apply", change.patchPath);
    expect(workspace.read("lib/lib.txt")).toBe("task\n2\n3\n4\n5\n");
  });

  it("are reported if they are only in the patch: not checked out here, or on a branch", async () => {
    const workspace = withSubmodule();
    gitIn(workspace.directory, "submodule", "--quiet", "deinit", "--all", "--force");
    rmSync(workspace.path(".git/modules"), { recursive: true });
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "lib/put-there.txt"), "not lost\n");
    writeFileSync(join(tree.cwd, "a.txt"), "task\n");
    const change = await changeOf(isolation, "t", tree);
    expect(change).toMatchObject({
      statistics: { filesChanged: 2 },
      unmerged: ["lib"],
    });
    expect(readFileSync(change.patchPath, "utf8")).toContain("+not lost");
    expect((await mergeChanges(isolation, [change])).get("t")).toEqual({ status: "applied" });
    expect(workspace.read("a.txt")).toBe("task\n");
  });

  it("are a commit in the submodule if others have that commit", async () => {
    const workspace = withSubmodule();
    const lib = workspace.path("lib");
    gitIn(lib, "checkout", "-q", "HEAD~1");
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    gitIn(tree.cwd, "submodule", "--quiet", "update", "--init");
    gitIn(join(tree.cwd, "lib"), "checkout", "-q", "origin/HEAD");
    const change = await changeOf(isolation, "t", tree);
    expect(change.statistics.files).toEqual(["lib"]);
    const outcome = await makeBranch(isolation, change);
    const branch = outcome.status === "branch" ? outcome.branch : "";
    expect(gitIn(workspace.directory, "rev-parse", `${branch}:lib`)).toBe(
      gitIn(lib, "rev-parse", "origin/HEAD"),
    );
  });
});

describe("work that does not fit into a patch", () => {
  it("keeps files that are too large", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    mkdirSync(join(tree.cwd, "data"));
    writeFileSync(join(tree.cwd, "data/huge.bin"), "begins so");
    truncateSync(join(tree.cwd, "data/huge.bin"), 51 * 1024 * 1024);
    const { captured, statistics } = await changeOf(isolation, "t", tree);
    expect(statistics.filesChanged).toBe(0);
    const folder = join(workspace.spillDirectory, "artifacts");
    const kept = [{ path: "data/huge.bin", keptAt: join(folder, "data/huge.bin") }];
    expect(await tree.keepFiles(captured, folder)).toEqual(kept);
    await isolation.dispose();
    expect(readFileSync(join(folder, "data/huge.bin")).subarray(0, 9).toString()).toBe("begins so");
  });

  it("keeps branches, tags and commits, as a bundle", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    const bundle = join(workspace.spillDirectory, "t.bundle");
    expect(await tree.keepCommits(bundle)).toBeUndefined();
    gitIn(tree.cwd, "branch", "here", "HEAD~1");
    expect(await tree.keepCommits(bundle)).toEqual({ refs: ["refs/heads/here"] });
    writeFileSync(join(tree.cwd, "a.txt"), "task\n");
    gitIn(tree.cwd, "checkout", "-q", "-b", "feature");
    gitIn(tree.cwd, "commit", "-qam", "the feature");
    gitIn(tree.cwd, "tag", "done");
    const refs = ["HEAD", "refs/heads/feature", "refs/heads/here", "refs/tags/done"];
    const nowhere = join(workspace.spillDirectory, "none/t.bundle");
    expect(await tree.keepCommits(nowhere)).toEqual({
      refs,
      error: expect.stringContaining("t.bundle"),
    });
    expect(await tree.keepCommits(bundle)).toEqual({ refs, path: bundle });
    await isolation.dispose();
    expect(gitIn(workspace.directory, "branch", "--list", "feature")).toBe("");
    gitIn(workspace.directory, "fetch", "-q", bundle, "feature:feature");
    expect(gitIn(workspace.directory, "show", "feature:a.txt")).toBe("task\n");
  });
});

describe("a task's work", () => {
  it("includes repositories it makes and ignored files it adds on purpose", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    const at = (name: string) => join(tree.cwd, name);
    for (const name of ["app", "app/inner", "bare"]) {
      mkdirSync(at(name), { recursive: true });
      gitIn(at(name), "init", "-q");
    }
    writeFileSync(at("app/.gitignore"), "skipped\n");
    writeFileSync(at("app/skipped"), "x");
    writeFileSync(at("app/main.txt"), "main\n");
    writeFileSync(at("app/inner/deep.txt"), "deep\n");
    gitIn(at("app"), "add", "main.txt");
    gitIn(at("app"), "commit", "-qm", "its first");
    writeFileSync(at("wanted.log"), "wanted\n");
    writeFileSync(at("other.log"), "noise\n");
    gitIn(tree.cwd, "add", "-f", "wanted.log");
    const change = await changeOf(isolation, "t", tree);
    expect([...change.statistics.files].sort()).toEqual([
      "app/.gitignore",
      "app/inner/deep.txt",
      "app/main.txt",
      "wanted.log",
    ]);
    expect((await mergeChanges(isolation, [change])).get("t")).toEqual({ status: "applied" });
    expect(workspace.read("app/inner/deep.txt")).toBe("deep\n");
    expect(existsSync(workspace.path("app/.git"))).toBe(false);
  });

  it("that cannot be written does not affect the work of other tasks", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const [one, two] = [await isolation.createTree(), await isolation.createTree()];
    writeFileSync(join(one.cwd, "x.log"), "task\n");
    gitIn(one.cwd, "add", "-f", "x.log");
    writeFileSync(join(two.cwd, "fine.txt"), "fine\n");
    const changes = [await changeOf(isolation, "one", one), await changeOf(isolation, "two", two)];
    workspace.write({ "x.log": "the user's, ignored\n" });
    const outcomes = await mergeChanges(isolation, changes);
    expect(outcomes.get("one")).toMatchObject({ status: "conflict" });
    expect(outcomes.get("two")).toEqual({ status: "applied" });
    expect(workspace.read("x.log")).toBe("the user's, ignored\n");
    expect(workspace.read("fine.txt")).toBe("fine\n");
  });
});

describe("the patch of kept work", () => {
  /** Does work in a tree, keeps it, and applies it to a new tree. */
  async function resumed(workspace: Workspace, work: (cwd: string) => void, between = () => {}) {
    const first = await isolate(workspace, { trusted: true });
    const tree = await first.createTree();
    work(tree.cwd);
    const before = await changeOf(first, "t", tree);
    const patch = join(workspace.spillDirectory, "kept.patch");
    cpSync(before.patchPath, patch);
    const files = filesIn(tree.cwd);
    await first.dispose();
    between();
    const second = await isolate(workspace, { trusted: true });
    const next = await second.createTree();
    await next.apply(patch);
    const { tree: recorded } = await next.capture();
    return { before: before.tree, after: recorded, files, resumed: filesIn(next.cwd), next };
  }

  const filesIn = (cwd: string) =>
    Object.fromEntries(
      readdirSync(cwd)
        .filter((name) => name !== ".git")
        .map((name) => [name, readFileSync(join(cwd, name), "latin1")]),
    );

  const upper = (workspace: Workspace) => {
    gitIn(workspace.directory, "config", "filter.upper.clean", "tr a-z A-Z");
    gitIn(workspace.directory, "config", "filter.upper.smudge", "tr A-Z a-z");
  };

  it.each<[string, Record<string, string>, (workspace: Workspace) => void]>([
    ["eol=crlf", { ".gitattributes": "*.txt text eol=crlf\n" }, () => {}],
    ["eol=lf", { ".gitattributes": "*.txt text eol=lf\n" }, () => {}],
    ["-text", { ".gitattributes": "*.txt -text\n", "a.txt": "one\r\ntwo\nthree\r\n" }, () => {}],
    ["core.autocrlf", {}, ({ directory }) => gitIn(directory, "config", "core.autocrlf", "true")],
    ["a filter", { ".gitattributes": "*.txt filter=upper\n" }, upper],
    ["ident", { ".gitattributes": "*.txt ident\n", "a.txt": "$Id$\ntwo\nthree\n" }, () => {}],
    ["an encoding", { ".gitattributes": "w.txt working-tree-encoding=UTF-16LE\n" }, () => {}],
    ["whitespace", { ".gitattributes": "*.txt whitespace=trailing-space\n" }, () => {}],
  ])("gives the files the same content under %s", async (_, files, configure) => {
    const workspace = repository(files);
    configure(workspace);
    rmSync(workspace.path("a.txt"));
    gitIn(workspace.directory, "checkout", "a.txt");
    const { before, after, ...seen } = await resumed(workspace, (cwd) => {
      const path = join(cwd, "a.txt");
      writeFileSync(path, readFileSync(path, "latin1").replace("two", "two, and  "), "latin1");
      writeFileSync(join(cwd, "new.txt"), "a\r\nb\n");
      writeFileSync(join(cwd, "w.txt"), Buffer.from("é\n", "utf16le"));
    });
    expect(after).toBe(before);
    // An expanded `$Id$` is that of the file's new content.
    const plain = (text = "") => text.replace(/\$Id:.*\$/, "$Id$");
    expect(plain(seen.resumed["a.txt"])).toBe(plain(seen.files["a.txt"]));
  });

  it("includes the attributes that it changes", async () => {
    const workspace = repository({ "b.txt": "one\n" });
    const {
      before,
      after,
      resumed: files,
    } = await resumed(workspace, (cwd) => {
      writeFileSync(join(cwd, ".gitattributes"), "*.txt text eol=crlf\n");
      writeFileSync(join(cwd, "a.txt"), "one\r\n2\r\nthree\r\n");
      writeFileSync(join(cwd, "z.txt"), "z\r\n");
    });
    expect(after).toBe(before);
    expect(files["a.txt"]).toBe("one\r\n2\r\nthree\r\n");
    expect(files["z.txt"]).toBe("z\r\n");
  });

  it("is merged with later changes, and refused if that is impossible", async () => {
    const lines = Array.from({ length: 9 }, (_, index) => `${index}\n`);
    const changed = (at: number, text: string) => lines.toSpliced(at, 1, text).join("");
    const user = (at: number) => {
      const workspace = repository({ "n.txt": lines.join("") });
      return resumed(
        workspace,
        (cwd) => writeFileSync(join(cwd, "n.txt"), changed(4, "task\n")),
        () => workspace.write({ "n.txt": changed(at, "user\n") }),
      );
    };
    // So close that the patch alone does not apply.
    const { resumed: files } = await user(2);
    expect(files["n.txt"]).toBe("0\n1\nuser\n3\ntask\n5\n6\n7\n8\n");
    await expect(user(4)).rejects.toThrow(/earlier changes do not fit[\s\S]*kept\.patch/);
  });
});
