import { fork } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sliceSize } from "../../../../scripts/testing/slice.ts";
import { Workspace } from "../../../system/src/processes/__fixtures__/workspace.ts";
import { changeOf, gitIn, isolate, repository, stateOf } from "./__fixtures__/isolated.ts";
import { Isolation } from "./isolation.ts";
import { makeBranch, mergeChanges } from "./merge-back.ts";

describe("a tree for a task", () => {
  it("starts from the working state: staged, unstaged, untracked and deleted, not ignored", async () => {
    const workspace = repository({ "gone.txt": "x\n", "staged.txt": "old\n" });
    workspace.write({
      "a.txt": "one\nTWO\nthree\n",
      "staged.txt": "new\n",
      "new file.txt": "fresh\n",
      "ignored/big.bin": "secret",
      "x.log": "noise",
    });
    gitIn(workspace.directory, "add", "staged.txt");
    rmSync(workspace.path("gone.txt"));
    const before = stateOf(workspace.directory);
    const tree = await (await isolate(workspace)).createTree();
    const read = (name: string) => readFileSync(join(tree.cwd, name), "utf8");
    expect(read("a.txt")).toBe("one\nTWO\nthree\n");
    expect(read("staged.txt")).toBe("new\n");
    expect(read("new file.txt")).toBe("fresh\n");
    for (const name of ["gone.txt", "ignored", "x.log"]) {
      expect(existsSync(join(tree.cwd, name))).toBe(false);
    }
    expect({ ...stateOf(workspace.directory), worktrees: "" }).toEqual({
      ...before,
      worktrees: "",
    });
  });

  it("is removed with everything that git stored about it", async () => {
    const workspace = repository();
    const before = stateOf(workspace.directory);
    const isolation = await isolate(workspace);
    const trees = [await isolation.createTree(), await isolation.createTree()];
    await trees[0]?.remove();
    await isolation.dispose();
    expect(stateOf(workspace.directory)).toEqual(before);
    expect(readdirSync(join(workspace.spillDirectory, "worktrees"))).toEqual([]);
  });

  it("starts in the caller's folder even if that is not the top", async () => {
    const workspace = repository({ "sub/deep/b.txt": "b\n" });
    const isolation = await isolate(workspace, { cwd: workspace.path("sub/deep") });
    const tree = await isolation.createTree();
    expect(readFileSync(join(tree.cwd, "b.txt"), "utf8")).toBe("b\n");
    writeFileSync(join(tree.cwd, "c.txt"), "c\n");
    writeFileSync(join(tree.cwd, "../../a.txt"), "top\n");
    const change = await changeOf(isolation, "t", tree);
    await mergeChanges(isolation, [change]);
    expect(workspace.read("sub/deep/c.txt")).toBe("c\n");
    expect(workspace.read("a.txt")).toBe("top\n");
  });

  it("sees changes that keep the size and the second of a file", async () => {
    const workspace = repository({ "b.txt": "old b\n" });
    const past = new Date("2020-01-01T12:00:00Z");
    // As if everything happened within one second, so that only the content can tell.
    gitIn(workspace.directory, "config", "core.trustctime", "false");
    const rewrite = (path: string, text: string) => {
      writeFileSync(path, text);
      utimesSync(path, past, past);
    };
    rewrite(workspace.path("b.txt"), "old b\n");
    gitIn(workspace.directory, "add", "-A");
    utimesSync(workspace.path(".git/index"), past, past);
    rewrite(workspace.path("b.txt"), "new b\n");
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    expect(readFileSync(join(tree.cwd, "b.txt"), "utf8")).toBe("new b\n");
    const index = join(workspace.directory, ".git/worktrees", basename(tree.cwd), "index");
    rewrite(join(tree.cwd, "b.txt"), "new b\n");
    gitIn(tree.cwd, "update-index", "--refresh");
    utimesSync(index, past, past);
    rewrite(join(tree.cwd, "b.txt"), "its b\n");
    expect((await changeOf(isolation, "t", tree)).statistics.files).toEqual(["b.txt"]);
  });

  it("is made before the first commit and leaves repositories inside alone", async () => {
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    workspace.write({ "a.txt": "a\n", "inner/b.txt": "b\n" });
    gitIn(workspace.directory, "init", "-q");
    gitIn(workspace.path("inner"), "init", "-q");
    const tree = await (await isolate(workspace)).createTree();
    expect(readdirSync(tree.cwd).sort()).toEqual([".git", "a.txt"]);
  });

  it("omits untracked files that are too large, and lists them", async () => {
    const workspace = repository();
    workspace.write({ "huge.bin": "", "small.txt": "s\n" });
    truncateSync(workspace.path("huge.bin"), 51 * 1024 * 1024);
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    expect(isolation.baseline.leftOut).toEqual(["huge.bin"]);
    expect(readdirSync(tree.cwd).sort()).toEqual([".git", ".gitignore", "a.txt", "small.txt"]);
    const change = await changeOf(isolation, "t", tree);
    expect(change.statistics.filesChanged).toBe(0);
  });

  it("is a copy outside of a repository, up to a size limit", async () => {
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    workspace.write({ "a.txt": "a\n", "dir/b.txt": "b\n" });
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "dir/b.txt"), "changed\n");
    const change = await changeOf(isolation, "t", tree);
    expect(change.statistics).toMatchObject({ filesChanged: 1, files: ["dir/b.txt"] });
    expect(await mergeChanges(isolation, [change])).toEqual(
      new Map([["t", { status: "applied" }]]),
    );
    expect(workspace.read("dir/b.txt")).toBe("changed\n");
    expect(existsSync(workspace.path(".git"))).toBe(false);
    await expect(isolate(workspace, { max: 3 })).rejects.toThrow(/isolation\.maxCopyBytes/);
  });

  it("says what is missing if there is no git", async () => {
    const workspace = repository();
    const environment = workspace.environment({ environment: { PATH: "/nowhere" } });
    const worktreesRoot = join(workspace.spillDirectory, "worktrees");
    const options = { environment, worktreesRoot, isProjectTrusted: false, maxCopyBytes: 1 };
    await expect(Isolation.open(options)).rejects.toThrow(/need git/);
    expect(readdirSync(worktreesRoot)).toEqual([]);
  });
});

describe("a patch", () => {
  it("contains only the task's changes, of every kind, and merges back completely", async () => {
    const workspace = repository({
      "moved.txt": "a long enough text\nto be seen as moved\nand not as new\n",
      "gone.txt": "x\n",
      "run.sh": "#!/bin/sh\n",
      "data.bin": new Uint8Array([0, 1, 2, 255]),
      "latin.txt": new Uint8Array([0x66, 0xfc, 0x72, 10]),
    });
    workspace.write({ "a.txt": "mine\n", "untracked.txt": "mine too\n" });
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    const at = (name: string) => join(tree.cwd, name);
    gitIn(tree.cwd, "mv", "moved.txt", "elsewhere.txt");
    rmSync(at("gone.txt"));
    chmodSync(at("run.sh"), 0o755);
    writeFileSync(at("data.bin"), new Uint8Array([9, 0, 255, 10]));
    writeFileSync(at("latin.txt"), new Uint8Array([0xe4, 10]));
    writeFileSync(at("untracked.txt"), "mine too\nand the task's\n");
    mkdirSync(at("new"));
    writeFileSync(at("new/empty.txt"), "");
    symlinkSync("a.txt", at("link"));
    gitIn(tree.cwd, "add", "-A");
    gitIn(tree.cwd, "commit", "-qm", "a commit of the task's own");
    const change = await changeOf(isolation, "t", tree);
    expect([...change.statistics.files].sort()).toEqual([
      "data.bin",
      "elsewhere.txt",
      "gone.txt",
      "latin.txt",
      "link",
      "new/empty.txt",
      "run.sh",
      "untracked.txt",
    ]);
    expect(change.statistics.deletions).toBeGreaterThan(0);
    expect((await mergeChanges(isolation, [change])).get("t")).toEqual({ status: "applied" });
    const here = (name: string) => readFileSync(workspace.path(name));
    for (const name of [
      "elsewhere.txt",
      "data.bin",
      "latin.txt",
      "untracked.txt",
      "new/empty.txt",
    ]) {
      expect(here(name)).toEqual(readFileSync(at(name)));
    }
    expect(existsSync(workspace.path("gone.txt")) || existsSync(workspace.path("moved.txt"))).toBe(
      false,
    );
    expect(lstatSync(workspace.path("run.sh")).mode & 0o111).not.toBe(0);
    expect(lstatSync(workspace.path("link")).isSymbolicLink()).toBe(true);
    expect(workspace.read("a.txt")).toBe("mine\n");
    // The index belongs to the user: nothing was staged.
    expect(gitIn(workspace.directory, "diff", "--cached", "--name-only")).toBe("");
  });

  it("is empty when nothing was done", async () => {
    const workspace = repository();
    workspace.write({ "a.txt": "mine\n" });
    const isolation = await isolate(workspace);
    const change = await changeOf(isolation, "t", await isolation.createTree());
    expect(change.statistics.filesChanged).toBe(0);
    expect(existsSync(change.patchPath)).toBe(false);
  });
});

describe("merging back", () => {
  it("combines parallel changes to one file and leaves out a conflicting one", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const workspace = repository({ "list.txt": `${lines.join("\n")}\n` });
    const isolation = await isolate(workspace);
    const edit = async (id: string, line: number, text: string) => {
      const tree = await isolation.createTree();
      const changed = lines.with(line, text);
      writeFileSync(join(tree.cwd, "list.txt"), `${changed.join("\n")}\n`);
      return changeOf(isolation, id, tree);
    };
    const changes = [await edit("a", 2, "A"), await edit("b", 25, "B"), await edit("c", 2, "C")];
    // The user continues to work meanwhile.
    const users = lines.with(14, "user");
    workspace.write({ "list.txt": `${users.join("\n")}\n` });
    const outcomes = await mergeChanges(isolation, changes);
    expect(outcomes.get("a")).toEqual({ status: "applied" });
    expect(outcomes.get("b")).toEqual({ status: "applied" });
    expect(outcomes.get("c")).toMatchObject({ status: "conflict" });
    expect(workspace.read("list.txt")).toBe(`${users.with(2, "A").with(25, "B").join("\n")}\n`);
  });

  it("works however the user has configured git's patches", async () => {
    const workspace = repository({ "b.txt": "1\n2\n3\n4\n5\n" });
    const { directory } = workspace;
    for (const setting of [
      "diff.context 0",
      "diff.orderFile nowhere",
      "diff.relative true",
      "apply.ignoreWhitespace change",
      "rerere.enabled true",
    ]) {
      gitIn(directory, "config", ...setting.split(" "));
    }
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "b.txt"), "1\n2\nthree\n4\n5\n");
    const change = await changeOf(isolation, "x", tree);
    const outcomes = await mergeChanges(isolation, [change]);
    expect(outcomes.get("x")).toEqual({ status: "applied" });
    expect(workspace.read("b.txt")).toBe("1\n2\nthree\n4\n5\n");
  });

  it("merges files that several tasks add, and reports those that differ", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const changes = [];
    for (const [id, text] of Object.entries({ a: "one\n", b: "two\n", c: "one\n" })) {
      const tree = await isolation.createTree();
      writeFileSync(join(tree.cwd, "new.txt"), text);
      changes.push(await changeOf(isolation, id, tree));
    }
    const outcomes = await mergeChanges(isolation, changes);
    expect([...outcomes.values()].map(({ status }) => status)).toEqual([
      "applied",
      "conflict",
      "applied",
    ]);
    expect(workspace.read("new.txt")).toBe("one\n");
  });

  it("writes nothing to the user's folder if only additions of other tasks clash", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "new.txt"), "task\n");
    const change = await changeOf(isolation, "x", tree);
    workspace.write({ "new.txt": "user\n" });
    expect((await mergeChanges(isolation, [change])).get("x")?.status).toBe("conflict");
    expect(workspace.read("new.txt")).toBe("user\n");
  });

  it("keeps private files private, and changes only those mode bits that a task changed", async () => {
    const workspace = repository({ "run.sh": "x\n", "old.txt": "much\nthe\nsame\n" });
    workspace.write({ secret: "key\n" });
    for (const file of ["secret", "run.sh", "old.txt", "a.txt"]) {
      chmodSync(join(workspace.directory, file), 0o600);
    }
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    for (const file of ["secret", "a.txt"]) writeFileSync(join(tree.cwd, file), "other\n");
    chmodSync(join(tree.cwd, "run.sh"), 0o755);
    renameSync(join(tree.cwd, "old.txt"), join(tree.cwd, "new.txt"));
    await mergeChanges(isolation, [await changeOf(isolation, "x", tree)]);
    const modes = ["secret", "a.txt", "run.sh", "new.txt"].map(
      (file) => lstatSync(join(workspace.directory, file)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o700, 0o600]);
    expect(workspace.read("secret")).toBe("other\n");
  });

  it("includes files outside of a sparse checkout's folders, and work of a task that removed .git", async () => {
    const workspace = repository({ "one/a": "a\n", "two/b": "b\n" });
    gitIn(workspace.directory, "sparse-checkout", "set", "one");
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    mkdirSync(join(tree.cwd, "two"), { recursive: true });
    writeFileSync(join(tree.cwd, "two/new"), "n\n");
    rmSync(join(tree.cwd, ".git"));
    gitIn(tree.cwd, "init", "-q");
    const change = await changeOf(isolation, "x", tree);
    expect(change.statistics.files).toEqual(["two/new"]);
    expect((await mergeChanges(isolation, [change])).get("x")).toEqual({ status: "applied" });
    expect(workspace.read("two/new")).toBe("n\n");
    await isolation.dispose();
    expect(existsSync(join(workspace.directory, ".git/worktrees"))).toBe(false);
  });

  it("changes none of the user's files on a conflict", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "a.txt"), "one\nTASK\nthree\n");
    writeFileSync(join(tree.cwd, "other.txt"), "new\n");
    const change = await changeOf(isolation, "t", tree);
    workspace.write({ "a.txt": "one\nUSER\nthree\n" });
    const before = stateOf(workspace.directory);
    const outcome = (await mergeChanges(isolation, [change])).get("t");
    expect(outcome).toMatchObject({ status: "conflict", reason: expect.stringContaining("a.txt") });
    expect(workspace.read("a.txt")).toBe("one\nUSER\nthree\n");
    expect(stateOf(workspace.directory)).toEqual(before);
  });

  it("makes a branch on the user's commit without touching the files", async () => {
    const workspace = repository();
    workspace.write({ "dirty.txt": "dirty\n" });
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "a.txt"), "changed\n");
    const outcome = await makeBranch(isolation, await changeOf(isolation, "T 1", tree));
    const branch = outcome.status === "branch" ? outcome.branch : "";
    expect(branch).toMatch(/^tau\/T-1-/);
    expect(gitIn(workspace.directory, "diff", "--name-only", "HEAD", branch)).toBe("a.txt\n");
    expect(workspace.read("a.txt")).toBe("one\ntwo\nthree\n");
  });
});

describe("many trees, and killed hosts", () => {
  it("keeps many trees apart and leaves nothing behind", async () => {
    const count = sliceSize(6, 20);
    const workspace = repository();
    const before = stateOf(workspace.directory);
    const isolation = await isolate(workspace);
    const changes = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const tree = await isolation.createTree();
        writeFileSync(join(tree.cwd, `file-${index}.txt`), `${index}\n`);
        const change = await changeOf(isolation, `t${index}`, tree);
        expect(change.statistics.files).toEqual([`file-${index}.txt`]);
        return change;
      }),
    );
    await mergeChanges(isolation, changes);
    await isolation.dispose();
    for (let index = 0; index < count; index++) {
      expect(workspace.read(`file-${index}.txt`)).toBe(`${index}\n`);
    }
    expect(stateOf(workspace.directory).worktrees).toBe(before.worktrees);
    expect(stateOf(workspace.directory).index).toBe(before.index);
  });

  it("leaves nothing behind of a tree whose creation was interrupted", async () => {
    const workspace = repository();
    const before = stateOf(workspace.directory);
    const isolation = await isolate(workspace);
    const run = basename(isolation.folder.path);
    // The states in which a killed git leaves it: registered, or just before that.
    const made = join(isolation.folder.path, `${run}-8`);
    gitIn(workspace.directory, "worktree", "add", "-q", "--detach", made);
    mkdirSync(workspace.path(`.git/worktrees/${run}-9`));
    await isolation.dispose();
    expect(stateOf(workspace.directory)).toEqual(before);
    expect(existsSync(workspace.path(".git/worktrees"))).toBe(false);
  });

  it("removes at the next use what hosts left that were killed while they made or removed a folder", async () => {
    const workspace = repository();
    const root = join(workspace.spillDirectory, "worktrees");
    const folder = (name: string, minutes = 0) => {
      mkdirSync(join(root, name, "part"), { recursive: true });
      const time = Date.now() / 1000 - minutes * 60;
      utimesSync(join(root, name), time, time);
    };
    folder("0123abcd");
    folder("00000001.new", 2);
    // Another host may be making this one.
    folder("00000002.new");
    // The owner of this one may be alive: its file cannot be read.
    mkdirSync(join(root, "00000003", "owner.json"), { recursive: true });
    const isolation = await isolate(workspace);
    await isolation.dispose();
    expect(readdirSync(root).sort()).toEqual(["00000002.new", "00000003"]);
  });

  it("does not begin if it is aborted while another host's leftovers are removed", async () => {
    const workspace = repository();
    const worktreesRoot = join(workspace.spillDirectory, "worktrees");
    const left = join(worktreesRoot, "0123abcd");
    mkdirSync(left, { recursive: true });
    const owner = { pid: 2 ** 30, host: hostname(), commonDirs: [] };
    writeFileSync(join(left, "owner.json"), JSON.stringify(owner));
    // A merge is only undone once nothing is being written any more.
    const journal = {
      root: workspace.directory,
      patch: "p",
      files: [{ name: "a.txt" }],
      modes: [],
    };
    writeFileSync(join(left, "merge.json"), JSON.stringify(journal));
    const environment = workspace.environment();
    const options = { environment, worktreesRoot, isProjectTrusted: false, maxCopyBytes: 1 };
    const [call, before] = [new AbortController(), performance.now()];
    const opening = Isolation.open({ ...options, signal: call.signal });
    setTimeout(() => call.abort(), 20);
    await expect(opening).rejects.toThrow("aborted");
    expect(performance.now() - before).toBeLessThan(450);
    await expect.poll(() => readdirSync(worktreesRoot), { timeout: 5_000 }).toEqual([]);
  });

  it("leaves the user's tree as it was when the host is killed, and cleans up at the next use", async () => {
    const workspace = repository();
    workspace.write({ "a.txt": "mine\n" });
    const before = stateOf(workspace.directory);
    const root = join(workspace.spillDirectory, "worktrees");
    const host = fork(
      join(import.meta.dirname, "__fixtures__/isolating-host.ts"),
      [workspace.directory, root],
      { execArgv: ["-C", "@tau-agent/source"], stdio: ["ignore", "ignore", "inherit", "ipc"] },
    );
    const [path] = await new Promise<unknown[]>((resolve) =>
      host.once("message", (...all) => resolve(all)),
    );
    const ended = new Promise((resolve) => host.once("exit", resolve));
    host.kill("SIGKILL");
    await ended;
    expect(existsSync(String(path))).toBe(true);
    expect({ ...stateOf(workspace.directory), worktrees: "" }).toEqual({
      ...before,
      worktrees: "",
    });
    const isolation = await isolate(workspace);
    expect(existsSync(String(path))).toBe(false);
    await isolation.dispose();
    expect(stateOf(workspace.directory)).toEqual(before);
    expect(readdirSync(root)).toEqual([]);
  });
});
