import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { changeOf, gitIn, isolate, repository, stateOf } from "../__fixtures__/isolated.ts";

/** Everything of git's that a task could have changed. */
const everything = (directory: string) => ({
  ...stateOf(directory),
  worktrees: "",
  stashes: gitIn(directory, "stash", "list"),
  config: readFileSync(join(directory, ".git/config"), "utf8"),
  log: gitIn(directory, "reflog", "show", "--all").replace(/^.* worktrees\/.*\n/gm, ""),
  index: readFileSync(join(directory, ".git/index")).toString("hex"),
});

describe("the repository of a tree", () => {
  it("has the caller's branches, tags, stashes and settings, and keeps changes to itself", async () => {
    const workspace = repository();
    const { directory } = workspace;
    gitIn(directory, "config", "user.name", "Somebody");
    gitIn(directory, "config", "alias.hello", "!echo 'a \\ \"quoted\" word # and more'");
    gitIn(directory, "branch", "other");
    gitIn(directory, "tag", "-a", "-m", "a tag", "v1");
    workspace.write({ "a.txt": "stashed\n" });
    gitIn(directory, "stash");
    workspace.write({ "a.txt": "mine\n", "b.txt": "new\n" });
    const before = everything(directory);
    const { cwd } = await (await isolate(workspace, { trusted: true })).createTree();
    expect(gitIn(cwd, "for-each-ref")).toBe(gitIn(directory, "for-each-ref"));
    expect(gitIn(cwd, "describe", "--tags", "other")).toBe("v1\n");
    expect(gitIn(cwd, "stash", "list")).toBe(before.stashes);
    expect(gitIn(cwd, "config", "--local", "user.name")).toBe("Somebody\n");
    expect(gitIn(cwd, "hello")).toBe(gitIn(directory, "hello"));
    expect(gitIn(cwd, "status", "--porcelain")).toBe("");
    expect(gitIn(directory, "worktree", "list")).toContain(cwd);

    for (const line of [
      "stash drop",
      "stash",
      "tag v2",
      "branch -D other",
      "config user.name Task",
      "checkout -q -f -B main",
      "commit -q --allow-empty -m more",
      "reset -q --hard HEAD~1",
      "worktree prune",
      "reflog expire --expire=now --all",
      "gc -q --prune=now",
      "pack-refs --all",
    ]) {
      gitIn(cwd, ...line.split(" "));
    }
    expect(everything(directory)).toEqual(before);
    gitIn(directory, "fsck", "--strict");
  });

  it("runs the caller's hooks and applies settings included for the caller's folder", async () => {
    const workspace = repository();
    const { directory } = workspace;
    writeFileSync(join(directory, ".git/hooks/post-commit"), "#!/bin/sh\necho ran > hooked.txt\n", {
      mode: 0o755,
    });
    const home = join(directory, "ignored");
    mkdirSync(home);
    writeFileSync(join(home, "work.config"), "[user]\n\temail = work@localhost\n");
    writeFileSync(
      join(home, ".gitconfig"),
      `[user]\n\temail = home@localhost\n[includeIf "gitdir:${directory}/"]\n\tpath = work.config\n`,
    );
    const environment = { PATH: process.env.PATH, HOME: home };
    const isolation = await isolate(workspace, { environment, trusted: true });
    const { cwd } = await isolation.createTree();
    const email = isolation.git.run(["config", "user.email"], { cwd });
    expect(await email).toBe("work@localhost\n");
    gitIn(cwd, "commit", "-q", "--allow-empty", "-m", "x");
    expect(readFileSync(join(cwd, "hooked.txt"), "utf8")).toBe("ran\n");
  });

  it.each([
    ["objects of another format", ["--object-format=sha256"], []],
    ["a private folder of git's", ["--separate-git-dir=../separate-"], []],
  ])("works with %s", async (_, options) => {
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    const { directory, spillDirectory } = workspace;
    workspace.write({ "a.txt": "one\n" });
    const args = options.map((option) =>
      option.replace("../separate-", join(spillDirectory, "git")),
    );
    gitIn(directory, "init", "-q", ...args);
    gitIn(directory, "add", "-A");
    gitIn(directory, "commit", "-qm", "first");
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "a.txt"), "two\n");
    gitIn(tree.cwd, "commit", "-qam", "second");
    expect(gitIn(tree.cwd, "log", "--format=%s").split("\n")[0]).toBe("second");
    expect((await changeOf(isolation, "t", tree)).statistics.files).toEqual(["a.txt"]);
    expect(gitIn(directory, "log", "--branches", "--format=%s")).toBe("first\n");
  });

  it("works in a shallow clone, a worktree, a submodule and another task's tree", async () => {
    const origin = repository({ "lib/b.txt": "b\n" });
    gitIn(origin.directory, "commit", "-q", "--allow-empty", "-m", "second");
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    const { directory } = workspace;
    gitIn(directory, "clone", "-q", "--depth=1", `file://${origin.directory}`, "shallow");
    gitIn(workspace.path("shallow"), "worktree", "add", "-q", "../linked");
    gitIn(directory, "init", "-q", "outer");
    const allow = ["-c", "protocol.file.allow=always"];
    gitIn(
      workspace.path("outer"),
      ...allow,
      "submodule",
      "--quiet",
      "add",
      origin.directory,
      "sub",
    );
    for (const name of ["shallow", "linked", "outer/sub"]) {
      const cwd = workspace.path(name);
      const isolation = await isolate(workspace, { cwd });
      const first = await isolation.createTree();
      expect(gitIn(first.cwd, "log", "--format=%s", "HEAD~1")).toBe(
        gitIn(cwd, "log", "--format=%s"),
      );
      writeFileSync(join(first.cwd, "a.txt"), "first\n");
      gitIn(first.cwd, "commit", "-qam", "work");
      const inner = await isolate(workspace, { cwd: first.cwd });
      const second = await inner.createTree();
      expect(readFileSync(join(second.cwd, "a.txt"), "utf8")).toBe("first\n");
      writeFileSync(join(second.cwd, "new.txt"), "second\n");
      expect((await changeOf(inner, "t", second)).statistics.files).toEqual(["new.txt"]);
      await inner.dispose();
      expect((await changeOf(isolation, "t", first)).statistics.files).toEqual(["a.txt"]);
      await isolation.dispose();
      expect(gitIn(cwd, "status", "--porcelain")).toBe("");
    }
    expect(existsSync(workspace.path("shallow/.git/worktrees/linked"))).toBe(true);
  });

  it("applies settings of included files only once, and keeps its settings private", async () => {
    const workspace = repository();
    const { directory } = workspace;
    workspace.write({ ".git/more.config": '[remote "origin"]\n\turl = https://host.invalid/a\n' });
    gitIn(directory, "config", "include.path", "more.config");
    const { cwd } = await (await isolate(workspace)).createTree();
    expect(gitIn(cwd, "remote", "get-url", "--all", "origin")).toBe("https://host.invalid/a\n");
    expect(statSync(`${cwd}.git/config`).mode & 0o077).toBe(0);
  });

  it("shares neither tags nor settings with other trees of the call", async () => {
    const workspace = repository();
    const isolation = await isolate(workspace);
    const [one, two] = [await isolation.createTree(), await isolation.createTree()];
    gitIn(one.cwd, "tag", "mine");
    gitIn(one.cwd, "config", "user.name", "One");
    expect(gitIn(two.cwd, "tag")).toBe("");
    expect(gitIn(two.cwd, "config", "--local", "--list")).not.toContain("One");
  });
});
