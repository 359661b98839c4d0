import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isolatedTreeOf, LocalWorkspace } from "@tau-agent/system";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyOf, createFolder, type FolderKind } from "../rewind/__fixtures__/folders.ts";
import { IsolationThere } from "./isolation-there.ts";

/** A folder in a workspace that is actually this machine, but is not recognised as such. */
function elsewhere(kind: FolderKind) {
  const test = createFolder(kind);
  const home = join(test.root, "home");
  const workspace = new LocalWorkspace({
    cwd: test.folder,
    environment: test.environment.environment,
    homeDirectory: home,
  });
  Object.defineProperty(workspace, "id", { value: "box" });
  const open = async (cwd = test.folder) => {
    const isolation = await IsolationThere.open({ workspace, cwd });
    onTestFinished(() => isolation.dispose());
    return isolation;
  };
  const patch = (name: string) => join(test.root, `${name}.patch`);
  return { ...test, home, open, patch, worktrees: join(home, ".cache/tau/worktrees") };
}

type There = ReturnType<typeof elsewhere>;
type Opened = Awaited<ReturnType<There["open"]>>;

/** The work of a task in a separate tree, as a change to merge. */
async function task(there: There, isolation: Opened, id: string, work: (cwd: string) => void) {
  const tree = await isolation.createTree();
  work(tree.cwd);
  const captured = await tree.capture();
  const kept = await isolation.keepWork(captured, there.patch(id));
  return { tree, captured, kept, change: { id, tree: captured.tree, parts: kept.parts } };
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");
const text = (path: string) => readFileSync(path, "utf8");

describe.each(["plain", "git", "busy-git"] as const)("isolated trees in a %s folder", (kind) => {
  it("of a resumed task have its earlier changes, or report that these do not apply", async () => {
    const there = elsewhere(kind);
    there.write("a.txt", lines(9));
    const isolation = await there.open();
    await task(there, isolation, "one", (cwd) => {
      writeFileSync(join(cwd, "a.txt"), `${lines(9)}of one\n`);
    });
    const { cwd, apply } = await isolation.createTree();
    await apply(there.patch("one"));
    expect(text(join(cwd, "a.txt"))).toBe(`${lines(9)}of one\n`);
    writeFileSync(there.patch("one"), text(there.patch("one")).replaceAll("line 8", "line x"));
    await expect(apply(there.patch("one"))).rejects.toThrow(
      /^Its earlier changes do not fit the files as they are now: error: .*\nThe patch: .*one\.patch$/s,
    );
  });

  it("of a killed host keep their work for the next host, once", async () => {
    const there = elsewhere(kind);
    there.write("a.txt", "old\n");
    const killed = await there.open();
    const [tree, removed] = [await killed.createTree(), await killed.createTree()];
    await tree.secure(there.patch("one").replace(/\.patch$/, ""));
    await removed.secure(there.patch("two").replace(/\.patch$/, ""));
    writeFileSync(join(tree.cwd, "a.txt"), "new\n");
    await removed.remove();
    const next = await there.open();
    const { cwd, apply } = await next.createTree();
    for (const name of ["one", "two", "one"]) await next.keepLeft(there.patch(name));
    await apply(there.patch("one"));
    expect(text(join(cwd, "a.txt"))).toBe("new\n");
    expect(existsSync(there.patch("two"))).toBe(false);
    expect(existsSync(tree.cwd)).toBe(false);
  });

  it("start from the caller's files, and their work is merged back three-way", async () => {
    const there = elsewhere(kind);
    there.write("a.txt", `top\r\n${lines(9)}end\r\n`);
    there.write("private", "mine\n", 0o600);
    there.write("new file", "untracked\n");
    const isolation = await there.open();
    const before = copyOf(there.folder);
    const one = await task(there, isolation, "one", (cwd) => {
      expect(text(join(cwd, "a.txt"))).toBe(`top\r\n${lines(9)}end\r\n`);
      expect(text(join(cwd, "new file"))).toBe("untracked\n");
      expect(isolatedTreeOf(cwd, there.worktrees)).toBe(cwd);
      const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" });
      if (kind !== "plain") expect(git("log", "--format=%s")).toBe("first\n");
      writeFileSync(join(cwd, "a.txt"), `one\r\n${lines(9)}end\r\n`);
      writeFileSync(join(cwd, "private"), "of one\n");
      rmSync(join(cwd, "new file"));
    });
    const two = await task(there, isolation, "two", (cwd) => {
      writeFileSync(join(cwd, "a.txt"), `top\r\n${lines(9)}two\r\n`);
      mkdirSync(join(cwd, "deep"));
      writeFileSync(join(cwd, "deep/tool"), "#!/bin/sh\n");
      chmodSync(join(cwd, "deep/tool"), 0o755);
    });
    const three = await task(there, isolation, "three", (cwd) => {
      writeFileSync(join(cwd, "a.txt"), `three\r\n${lines(9)}end\r\n`);
    });
    expect(copyOf(there.folder)).toEqual(before);
    expect(one.kept.statistics.files.toSorted()).toEqual(["a.txt", "new file", "private"]);
    expect(text(there.patch("one"))).toMatch(/^diff --git a\/a.txt b\/a.txt\n/);
    // The user continues to work meanwhile.
    there.write("own.txt", "user\n");
    const changes = [one.change, two.change, three.change];
    const outcomes = await isolation.mergeChanges(changes, undefined);
    expect(outcomes.get("one")).toEqual({ status: "applied" });
    expect(outcomes.get("two")).toEqual({ status: "applied" });
    expect(outcomes.get("three")).toMatchObject({ status: "conflict" });
    const expected = new Map(before);
    expected.set("a.txt", `file 644 one\r\n${lines(9)}two\r\n`);
    expected.set("private", "file 600 of one\n");
    expected.delete("new file");
    expected.set("own.txt", "file 644 user\n");
    expected.set("deep/tool", "file 755 #!/bin/sh\n");
    expect(copyOf(there.folder)).toEqual(expected);
    if (kind === "git") expect(there.git("status", "--short", "README.md")).toBe("");
  });

  it("are removed with the call, and nobody else can read them", async () => {
    const there = elsewhere(kind);
    const isolation = await there.open();
    await isolation.createTree();
    expect(statSync(join(there.home, ".cache/tau")).mode & 0o777).toBe(0o700);
    const [run = ""] = readdirSync(there.worktrees);
    expect(statSync(join(there.worktrees, run)).mode & 0o777).toBe(0o700);
    await isolation.dispose();
    expect(readdirSync(there.worktrees)).toEqual([]);
  });
});

it("can be restored to a captured state", async () => {
  const there = elsewhere("git");
  const isolation = await there.open();
  const { tree, captured } = await task(there, isolation, "one", (cwd) => {
    writeFileSync(join(cwd, "made"), "made\n");
  });
  writeFileSync(join(tree.cwd, "made"), "changed\n");
  writeFileSync(join(tree.cwd, "left"), "by a check\n");
  await tree.restore(captured);
  expect(text(join(tree.cwd, "made"))).toBe("made\n");
  expect(existsSync(join(tree.cwd, "left"))).toBe(false);
});

it("give the task the caller's folder, even below the top of a repository", async () => {
  const there = elsewhere("git");
  there.write("sub/a.txt", "a\n");
  const isolation = await there.open(join(there.folder, "sub"));
  const { change } = await task(there, isolation, "one", (cwd) => {
    expect(readdirSync(cwd)).toEqual(["a.txt"]);
    writeFileSync(join(cwd, "b.txt"), "b\n");
    writeFileSync(join(cwd, "../top.txt"), "top\n");
  });
  await isolation.mergeChanges([change], undefined);
  expect(text(join(there.folder, "sub/b.txt"))).toBe("b\n");
  expect(text(join(there.folder, "top.txt"))).toBe("top\n");
});

it("keep a task's commits as a bundle, and a change as a branch", async () => {
  const there = elsewhere("git");
  const isolation = await there.open();
  const { tree, change } = await task(there, isolation, "one", (cwd) => {
    writeFileSync(join(cwd, "made"), "made\n");
    const identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    execFileSync("git", ["add", "."], { cwd });
    execFileSync("git", [...identity, "commit", "-qm", "work"], { cwd });
  });
  const path = join(there.root, "one.bundle");
  expect(await tree.keepCommits(path)).toMatchObject({ refs: ["HEAD", "refs/heads/main"], path });
  expect(there.git("bundle", "verify", "-q", path)).toBe("");
  const outcome = await isolation.makeBranch(change);
  expect(outcome).toMatchObject({ status: "branch" });
  await isolation.dispose();
  const { branch } = outcome as { branch: string };
  expect(there.git("show", `${branch}:made`)).toBe("made\n");
  expect(there.git("status", "--short")).toBe("");
});

it("do not overwrite changes made between the check and the write", async () => {
  const there = elsewhere("git");
  there.write("a.txt", "before\n");
  const isolation = await there.open();
  const { change } = await task(there, isolation, "one", (cwd) => {
    writeFileSync(join(cwd, "a.txt"), "task\n");
  });
  there.write("a.txt", "user\n");
  const outcomes = await isolation.mergeChanges([change], undefined);
  expect(outcomes.get("one")).toMatchObject({ status: "conflict" });
  expect(text(join(there.folder, "a.txt"))).toBe("user\n");
});
