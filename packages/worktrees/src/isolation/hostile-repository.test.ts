import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import type { Workspace } from "../../../system/src/processes/__fixtures__/workspace.ts";
import { changeOf, gitIn, isolate, repository } from "./__fixtures__/isolated.ts";
import { makeBranch, mergeChanges } from "./merge-back.ts";

/** A program that leaves a trace when it runs, with the key if it can read it. */
function trap(workspace: Workspace): { command: string; ran: () => string | undefined } {
  const [command, trace] = ["trap.sh", "trace"].map((name) => join(workspace.spillDirectory, name));
  if (command === undefined || trace === undefined) throw new Error("no folder");
  writeFileSync(command, `#!/bin/sh\necho "$0 $* $SECRET_KEY" >>'${trace}'\ncat\n`);
  chmodSync(command, 0o755);
  return {
    command,
    ran: () => (existsSync(trace) ? readFileSync(trace, "utf8") : undefined),
  };
}

const filterKeys = ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor"];
const lib = "protocol.file.allow=always";

/** Everything that a call does with a tree, with changes in several files that others change meanwhile. */
async function wholeCall(workspace: Workspace, options: Parameters<typeof isolate>[1] = {}) {
  const isolation = await isolate(workspace, options);
  const tree = await isolation.createTree();
  writeFileSync(join(tree.cwd, "a.txt"), "one\ntwo\nthree\nfour\n");
  writeFileSync(join(tree.cwd, "x.evil"), "task\n");
  writeFileSync(join(tree.cwd, "new.evil"), "new\n");
  const change = await changeOf(isolation, "t", tree);
  workspace.write({ "a.txt": "zero\none\ntwo\nthree\n" });
  const outcome = (await mergeChanges(isolation, [change])).get("t");
  const branch = await makeBranch(isolation, change);
  await tree.keepCommits(join(workspace.spillDirectory, "t.bundle"));
  await isolation.dispose();
  return { outcome, branch };
}

/** Settings that name programs, with the required beginning of their values, if any. */
const settings: readonly [key: string, before?: string][] = [
  ["core.fsmonitor"],
  ["core.sshCommand"],
  ["core.pager"],
  ["core.editor"],
  ["core.askPass"],
  ["core.gitProxy"],
  ["core.alternateRefsCommand"],
  ["credential.helper", "!"],
  ["diff.external"],
  ["diff.evil.command"],
  ["diff.evil.textconv"],
  ["merge.evil.driver"],
  ["gpg.program"],
  ["alias.add", "!"],
  ["alias.ls-files", "!"],
  ["pager.diff"],
  ["sequence.editor"],
  ["interactive.diffFilter"],
  ["uploadpack.packObjectsHook"],
  ["trailer.evil.command"],
  ["submodule.lib.update", "!"],
];

describe("a repository that is not trusted", () => {
  it("starts no programs named in its settings", async () => {
    const workspace = repository({ ".gitattributes": "*.txt diff=evil merge=evil\n" });
    const { command, ran } = trap(workspace);
    for (const [key, before = ""] of settings) {
      gitIn(workspace.directory, "config", key, `${before}${command} ${key}`);
    }
    rmSync(join(workspace.spillDirectory, "trace"), { force: true });
    expect((await wholeCall(workspace)).outcome).toEqual({ status: "applied" });
    expect(workspace.read("a.txt")).toBe("zero\none\ntwo\nthree\nfour\n");
    expect(ran()).toBeUndefined();
  });

  it("starts none of its hooks", async () => {
    const workspace = repository();
    const { command, ran } = trap(workspace);
    const hooks = workspace.path(".git/hooks");
    for (const name of ["post-checkout", "post-index-change", "reference-transaction"]) {
      cpSync(command, join(hooks, name));
    }
    gitIn(workspace.directory, "config", "core.hooksPath", hooks);
    rmSync(join(workspace.spillDirectory, "trace"), { force: true });
    await wholeCall(workspace);
    expect(ran()).toBeUndefined();
  });

  it.each(slice(["clean", "smudge", "process"], 1))(
    "is refused with the name of a filter that a file uses (%s)",
    async (kind) => {
      const workspace = repository({ "x.evil": "x\n", ".gitattributes": "*.evil filter=evil\n" });
      const { command, ran } = trap(workspace);
      gitIn(workspace.directory, "config", `filter.evil.${kind}`, command);
      const opened = isolate(workspace);
      await expect(opened).rejects.toThrow(ToolError);
      await expect(opened).rejects.toThrow(
        /"x\.evil" goes through the git filter "evil".*Trust the project,/,
      );
      expect(ran()).toBeUndefined();
      expect(gitIn(workspace.directory, "worktree", "list").split("\n")).toHaveLength(2);
    },
  );

  it.each([
    ["an included file", "more.config", ["include.path", "more.config"]],
    ["the configuration of a worktree", "config.worktree", ["extensions.worktreeConfig", "true"]],
  ])("is refused for a filter in %s", async (_, file, setting) => {
    const workspace = repository({ "x.evil": "x\n", ".gitattributes": "*.evil filter=evil\n" });
    const { command, ran } = trap(workspace);
    gitIn(workspace.directory, "config", ...setting);
    workspace.write({ [`.git/${file}`]: `[filter "evil"]\n\tclean = ${command}\n` });
    await expect(isolate(workspace)).rejects.toThrow(/git filter "evil"/);
    expect(ran()).toBeUndefined();
  });

  it("is refused for a filter selected in its own attributes file", async () => {
    const workspace = repository({ "x.evil": "x\n" });
    const { command, ran } = trap(workspace);
    gitIn(workspace.directory, "config", "filter.evil.clean", command);
    workspace.write({ ".git/more.attributes": "*.evil filter=evil\n" });
    gitIn(workspace.directory, "config", "core.attributesFile", ".git/more.attributes");
    await expect(isolate(workspace)).rejects.toThrow(/git filter "evil"/);
    expect(ran()).toBeUndefined();
  });

  it("cannot hang the host with an endless pattern file or index", async () => {
    const workspace = repository();
    const { directory } = workspace;
    execFileSync("mkfifo", [workspace.path(".git/pipe")]);
    for (const key of ["core.attributesFile", "core.excludesFile"]) {
      gitIn(directory, "config", key, workspace.path(".git/pipe"));
    }
    for (const name of ["exclude", "attributes", "sparse-checkout"]) {
      rmSync(workspace.path(".git/info", name), { force: true });
      symlinkSync("/dev/zero", workspace.path(".git/info", name));
    }
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    expect(readFileSync(join(tree.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    rmSync(workspace.path(".git/index"));
    symlinkSync("/dev/zero", workspace.path(".git/index"));
    await expect(isolate(workspace)).rejects.toThrow(/index is not a file/);
  });

  it("may define a filter that no file uses, which then does not run", async () => {
    const workspace = repository({ "x.evil": "x\n" });
    const { command, ran } = trap(workspace);
    gitIn(workspace.directory, "config", "filter.evil.clean", command);
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    // A task that selects the filter gets the content of its files, but no program runs.
    writeFileSync(join(tree.cwd, ".gitattributes"), "*.evil filter=evil\n");
    writeFileSync(join(tree.cwd, "x.evil"), "task\n");
    const change = await changeOf(isolation, "t", tree);
    await mergeChanges(isolation, [change]);
    expect(workspace.read("x.evil")).toBe("task\n");
    expect(ran()).toBeUndefined();
  });

  it("uses filters of the user's own configuration, without provider keys", async () => {
    const workspace = repository({ "x.evil": "x\n", ".gitattributes": "*.evil filter=mine\n" });
    const { command, ran } = trap(workspace);
    const home = workspace.path("ignored");
    mkdirSync(home);
    writeFileSync(join(home, ".gitconfig"), `[filter "mine"]\n\tclean = ${command}\n`);
    // As with `git lfs install --local`: the command is the same.
    gitIn(workspace.directory, "config", "filter.mine.clean", command);
    const environment = { PATH: process.env.PATH, HOME: home, SECRET_KEY: "sk-secret" };
    await wholeCall(workspace, { environment, keyVariables: ["SECRET_KEY"] });
    expect(ran()).toContain("trap.sh");
    expect(ran()).not.toContain("sk-secret");
  });

  it("does not fetch missing objects with its programs", async () => {
    const workspace = repository();
    const { directory } = workspace;
    const { command, ran } = trap(workspace);
    const id = gitIn(directory, "rev-parse", "HEAD:a.txt").trim();
    gitIn(directory, "config", "remote.origin.url", `${directory}/.git`);
    gitIn(directory, "config", "remote.origin.promisor", "true");
    gitIn(directory, "config", "remote.origin.uploadpack", command);
    gitIn(directory, "config", "core.repositoryformatversion", "1");
    gitIn(directory, "config", "extensions.partialClone", "origin");
    rmSync(workspace.path(".git/objects", id.slice(0, 2), id.slice(2)));
    workspace.write({ "a.txt": "changed\n" });
    await wholeCall(workspace).catch((error: unknown) => expect(error).toBeInstanceOf(ToolError));
    expect(ran()).toBeUndefined();
  });

  it("cannot name another folder as its own", async () => {
    const workspace = repository({ "inner/b.txt": "b\n" });
    gitIn(workspace.path("inner"), "init", "-q");
    gitIn(workspace.path("inner"), "config", "core.worktree", workspace.directory);
    const opened = isolate(workspace, { cwd: workspace.path("inner") });
    await expect(opened).rejects.toThrow(/has no \.git for it/);
  });

  it("inside a clone, as plain files, is not used", async () => {
    const workspace = repository();
    const { command, ran } = trap(workspace);
    const bare = workspace.path("docs");
    gitIn(workspace.directory, "init", "-q", "--bare", "docs");
    gitIn(workspace.directory, "--git-dir=docs", "config", "core.bare", "false");
    gitIn(workspace.directory, "--git-dir=docs", "config", "core.worktree", ".");
    gitIn(workspace.directory, "--git-dir=docs", "config", "core.fsmonitor", command);
    writeFileSync(join(bare, ".gitattributes"), "* filter=evil\n");
    gitIn(workspace.directory, "--git-dir=docs", "config", "filter.evil.clean", command);
    gitIn(workspace.directory, "add", "-A");
    gitIn(workspace.directory, "commit", "-qm", "with a bare repository");
    await expect(isolate(workspace, { cwd: bare })).rejects.toThrow(/cannot be used/);
    await wholeCall(workspace);
    expect(ran()).toBeUndefined();
  });
});

describe("a submodule", () => {
  /** A repository with a submodule `lib`, and a filter command that leaves a trace. */
  function withLibrary() {
    const library = repository({ "x.evil": "x\n", ".gitattributes": "*.evil filter=evil\n" });
    const workspace = repository();
    const { directory } = workspace;
    gitIn(directory, "-c", lib, "submodule", "--quiet", "add", library.directory, "lib");
    gitIn(directory, "commit", "-qm", "with a submodule");
    return { workspace, ...trap(workspace) };
  }

  it("that is not trusted starts none of its filters when the caller's files are recorded", async () => {
    const { workspace, command, ran } = withLibrary();
    gitIn(workspace.path("lib"), "config", "filter.evil.clean", command);
    workspace.write({ "lib/x.evil": "y\n" });
    const isolation = await isolate(workspace);
    await expect(isolation.createTree()).rejects.toThrow(/git filter "evil"/);
    expect(ran()).toBeUndefined();
  });

  it.each(slice([true, false], 1))(
    "that a task changed runs nothing (trusted: %s)",
    async (trusted) => {
      const { workspace, command, ran } = withLibrary();
      const isolation = await isolate(workspace, { trusted });
      const tree = await isolation.createTree();
      gitIn(tree.cwd, "submodule", "--quiet", "update", "--init");
      const changed = join(tree.cwd, "lib");
      for (const key of filterKeys) gitIn(changed, "config", key, command);
      // The same length as before, so that git has to compare the content.
      writeFileSync(join(changed, "x.evil"), "y\n");
      const change = await changeOf(isolation, "t", tree);
      expect(change.statistics.files).toEqual(["lib/x.evil"]);
      await mergeChanges(isolation, [change]);
      expect(workspace.read("lib/x.evil")).toBe("y\n");
      expect(ran()).toBeUndefined();
    },
  );

  it.each(slice([true, false], 1))(
    "that a task made where the caller has none runs nothing (trusted: %s)",
    async (trusted) => {
      const { workspace, command, ran } = withLibrary();
      gitIn(workspace.directory, "submodule", "--quiet", "deinit", "--all", "--force");
      const isolation = await isolate(workspace, { trusted });
      const tree = await isolation.createTree();
      const planted = join(tree.cwd, "lib");
      gitIn(planted, "init", "-q");
      writeFileSync(join(planted, ".gitattributes"), "* filter=evil diff=evil\n");
      for (const key of filterKeys) gitIn(planted, "config", key, command);
      writeFileSync(join(planted, "x.evil"), "planted\n");
      const change = await changeOf(isolation, "t", tree);
      expect(change.statistics.files).toContain("lib/x.evil");
      expect(ran()).toBeUndefined();
    },
  );

  it("of the caller is not checked for changes with its own settings", async () => {
    const { workspace, command, ran } = withLibrary();
    workspace.write({ "lib/x.evil": "y\n" });
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    writeFileSync(join(tree.cwd, "a.txt"), "task\n");
    const change = await changeOf(isolation, "t", tree);
    gitIn(workspace.path("lib"), "config", "filter.evil.clean", command);
    await mergeChanges(isolation, [change]);
    expect(workspace.read("a.txt")).toBe("task\n");
    expect(ran()).toBeUndefined();
  });
});

describe("the settings a task writes into its tree's repository", () => {
  it.each(slice([true, false], 1))(
    "start nothing when its work is taken (trusted: %s)",
    async (trusted) => {
      const workspace = repository({ "x.evil": "x\n" });
      const { command, ran } = trap(workspace);
      const isolation = await isolate(workspace, { trusted });
      const tree = await isolation.createTree();
      const set = (key: string, value: string) =>
        execFileSync("git", ["config", key, value], { cwd: tree.cwd });
      writeFileSync(join(tree.cwd, "gone.txt"), "gone\n");
      gitIn(tree.cwd, "add", "-A");
      gitIn(tree.cwd, "commit", "-qm", "work");
      const id = gitIn(tree.cwd, "rev-parse", "HEAD:gone.txt").trim();
      gitIn(tree.cwd, "rm", "-q", "gone.txt");
      gitIn(tree.cwd, "commit", "-qm", "more");
      // Git would fetch missing objects with a program named in these settings.
      rmSync(join(`${tree.cwd}.git/objects`, id.slice(0, 2), id.slice(2)));
      set("core.repositoryformatversion", "1");
      set("extensions.partialClone", "origin");
      set("remote.origin.url", workspace.directory);
      set("remote.origin.promisor", "true");
      set("remote.origin.uploadpack", command);
      for (const key of filterKeys) set(key, command);
      writeFileSync(join(tree.cwd, ".gitattributes"), "*.evil filter=evil\n");
      writeFileSync(join(tree.cwd, "x.evil"), "task\n");
      const change = await changeOf(isolation, "t", tree);
      const bundle = join(workspace.spillDirectory, "t.bundle");
      expect(await tree.keepCommits(bundle)).toMatchObject({
        refs: ["HEAD"],
        error: expect.any(String),
      });
      await tree.restore(change.captured);
      await mergeChanges(isolation, [change]);
      expect(workspace.read("x.evil")).toBe("task\n");
      expect(ran()).toBeUndefined();
    },
  );

  it("have no effect in a task started by that task, even in a trusted project", async () => {
    const workspace = repository({ "x.evil": "x\n" });
    const { command, ran } = trap(workspace);
    const isolation = await isolate(workspace, { trusted: true });
    const tree = await isolation.createTree();
    execFileSync("git", ["config", "filter.evil.clean", command], { cwd: tree.cwd });
    writeFileSync(join(tree.cwd, ".gitattributes"), "*.evil filter=evil\n");
    const inner = isolate(workspace, { cwd: tree.cwd, trusted: true });
    await expect(inner).rejects.toThrow(/git filter "evil"/);
    expect(ran()).toBeUndefined();
  });
});
