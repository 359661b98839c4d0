import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ProtectedFiles } from "@tau-agent/system";
import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import {
  exchangeInLoop,
  exchangeIsMissing,
  fillFolders,
  loopFiles,
} from "../../../system/src/sandbox/__fixtures__/exchange-loop.ts";
import { bubblewrapIsMissing } from "../../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "../../../system/src/sandbox/__fixtures__/sandboxed-place.ts";
import { changeOf } from "./__fixtures__/isolated.ts";
import { Isolation } from "./isolation.ts";
import { mergeChanges } from "./merge-back.ts";

function open(place: SandboxedPlace): Promise<Isolation> {
  return Isolation.open({
    environment: {
      ...place.tools,
      protectedFiles: new ProtectedFiles(place.agentDirectory, ["auth.json"]),
    },
    worktreesRoot: join(place.agentDirectory, "worktrees"),
    isProjectTrusted: false,
    maxCopyBytes: 1e9,
  });
}

function contents(gitDir: string): string {
  const args = ["--git-dir", gitDir, "cat-file", "--batch-all-objects", "--batch"];
  return execFileSync("git", args, { encoding: "latin1", maxBuffer: 1e9 });
}

describeWith(bubblewrapIsMissing)("isolated tasks with a sandbox", () => {
  it.each(["git", "plain"])("get no files that are closed (%s)", async (kind) => {
    await using place = new SandboxedPlace();
    const { project, agentDirectory } = place;
    mkdirSync(join(project, "secrets"));
    writeFileSync(join(project, "secrets", "tracked"), "committed");
    place.git("add", ".");
    place.git("commit", "--quiet", "--message", "second");
    writeFileSync(join(project, "secrets", "tracked"), "the-closed-one");
    writeFileSync(join(project, "secrets", "new"), "the-closed-one");
    writeFileSync(join(project, ".env"), "TOKEN=the-closed-one");
    linkSync(join(project, ".env"), join(project, "other-name"));
    linkSync(join(agentDirectory, "auth.json"), join(project, "keys"));
    writeFileSync(join(project, "file.txt"), "changed\n");
    if (kind === "plain") rmSync(join(project, ".git"), { recursive: true });
    await place.enter({ denyRead: [join(project, ".env"), "secrets"] });
    const isolation = await open(place);
    const { cwd } = await isolation.createTree();
    expect(readFileSync(join(cwd, "file.txt"), "utf8")).toBe("changed\n");
    for (const name of [".env", "other-name", "keys", "secrets/new"]) {
      expect(existsSync(join(cwd, name)), name).toBe(false);
    }
    const { gitDir, location } = isolation.repository;
    const stored = contents(kind === "git" ? gitDir : location.gitDir);
    expect(stored).toContain("changed");
    expect(stored).not.toMatch(/the-closed-one|the-secret/);
    await isolation.dispose();
  });

  it.each([
    ["a folder of git's that is a link", "rm -r .git/info; ln -s $OUTSIDE .git/info"],
    ["a file of git's that is a link", "ln -sf $OUTSIDE/exclude .git/info/exclude"],
    ["a file of git's that is a closed one", "ln -f .env .git/info/exclude"],
    ["a log that is a closed file", "mkdir -p .git/logs/refs; ln -f .env .git/logs/refs/stash"],
  ])("get no files through %s", async (_, command) => {
    await using place = new SandboxedPlace();
    writeFileSync(join(place.project, ".env"), "the-closed-one");
    writeFileSync(join(place.outside, "exclude"), "the-closed-one");
    execFileSync("bash", ["-c", command], {
      cwd: place.project,
      env: { ...process.env, OUTSIDE: place.outside },
    });
    await place.enter({ denyRead: [join(place.project, ".env"), place.outside] });
    const isolation = await open(place);
    const { cwd } = await isolation.createTree();
    const own = readFileSync(join(cwd, ".git"), "utf8").replace(/^gitdir: (.*)\n$/, "$1");
    const found = execFileSync("grep", ["-rl", "", own], { encoding: "utf8" }).split("\n");
    const leaks = found.filter((path) => path && readFileSync(path, "utf8").includes("the-closed"));
    expect(leaks).toEqual([]);
    await isolation.dispose();
  });

  it("close paths in the copy that absolute paths close in the folder", async () => {
    await using place = new SandboxedPlace();
    await place.enter({ denyRead: [join(place.project, ".env"), "~/project/keys", place.outside] });
    const denyRead = place.sandbox?.inherited.denyRead;
    const { project } = place;
    expect(denyRead).toEqual(expect.arrayContaining([".env", "keys"]));
    expect(denyRead).toEqual(expect.arrayContaining([join(project, "keys"), place.outside]));
  });

  it("get the host's files as they are on disk, whatever index and objects contain", async () => {
    await using place = new SandboxedPlace();
    const { project } = place;
    mkdirSync(join(project, ".pi", "extensions"), { recursive: true });
    mkdirSync(join(project, "tools"));
    const code = [".pi/extensions/own.ts", "tools/ext.ts"];
    for (const path of code) writeFileSync(join(project, path), `good ${path}\n`);
    place.git("add", ".");
    place.git("commit", "--quiet", "--message", "code");
    const blob = place.git("rev-parse", "HEAD:.pi/extensions/own.ts").trim();
    await place.enter();
    place.sandbox?.keepForHost([join(project, "tools", "ext.ts")]);
    const object = `.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`;
    const { output } = await place.run(`set -e
      evil=$(echo evil | git hash-object -w --stdin)
      for path in .pi/extensions/new.ts tools/ext.ts; do
        git update-index --add --cacheinfo 100644,$evil,$path
        git update-index --skip-worktree $path
      done
      chmod u+w ${object} && cat .git/objects/\${evil:0:2}/\${evil:2} > ${object} && echo forged`);
    expect(output).toContain("forged");
    const isolation = await open(place);
    const { cwd } = await isolation.createTree();
    for (const path of code) expect(readFileSync(join(cwd, path), "utf8")).toBe(`good ${path}\n`);
    expect(readdirSync(join(cwd, ".pi", "extensions"))).toEqual(["own.ts"]);
    await isolation.dispose();
  });

  it("write nothing to places that the host reads", async () => {
    await using place = await new SandboxedPlace().enter();
    const isolation = await open(place);
    const tree = await isolation.createTree();
    mkdirSync(join(tree.cwd, ".pi", "extensions"), { recursive: true });
    writeFileSync(join(tree.cwd, ".pi", "extensions", "x.ts"), "evil");
    const change = await changeOf(isolation, "one", tree);
    const outcomes = await mergeChanges(isolation, [change]);
    expect(outcomes.get("one")?.status).toBe("conflict");
    expect(existsSync(join(place.project, ".pi"))).toBe(false);
    await isolation.dispose();
  });
});

describeWith(exchangeIsMissing)("a job that keeps swapping a folder for a link", () => {
  it("gets no file from outside into a baseline", async () => {
    await using place = new SandboxedPlace();
    fillFolders(place);
    place.git("add", ".");
    place.git("commit", "--quiet", "--message", "folder");
    for (let number = 0; number < loopFiles; number++) {
      writeFileSync(join(place.project, "folder", `file-${number}`), `changed ${number}\n`);
    }
    await place.enter({ denyRead: [place.outside] });
    const stop = await exchangeInLoop(place);
    for (let count = 0; count < 4; count++) {
      // Git may give up while files appear and disappear.
      await open(place).then(
        (isolation) => isolation.dispose(),
        () => undefined,
      );
    }
    await stop();
    await (await open(place)).dispose();
    const stored = contents(join(place.project, ".git"));
    expect(stored).toContain("changed");
    expect(stored).not.toContain("the-secret");
  });

  it("makes no merge write or delete files outside", async () => {
    await using place = new SandboxedPlace();
    const { outside, project } = place;
    fillFolders(place);
    place.git("add", ".");
    place.git("commit", "--quiet", "--message", "folder");
    await place.enter();
    const outsideNow = () =>
      readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), "utf8")]);
    for (let number = 0; number < loopFiles; number++) {
      writeFileSync(join(outside, `file-${number}`), `inside ${number}\n`);
    }
    const before = outsideNow();
    for (let round = 0; round < 2; round++) {
      const isolation = await open(place);
      const tree = await isolation.createTree();
      for (let number = 0; number < loopFiles; number++) {
        const path = join(tree.cwd, "folder", `file-${number}`);
        if (number % 2 === 0) rmSync(path, { force: true });
        else writeFileSync(path, `task ${round}\n`);
        writeFileSync(join(tree.cwd, "folder", `new-${round}-${number}`), "task");
      }
      const change = await changeOf(isolation, "one", tree);
      const stop = await exchangeInLoop(place);
      await mergeChanges(isolation, [change]).catch(() => undefined);
      await stop();
      await isolation.dispose();
      place.git("checkout", "--quiet", "--force", "HEAD", "--", "folder");
    }
    expect(outsideNow()).toEqual(before);
    expect(existsSync(join(project, "folder", "file-0"))).toBe(true);
  });
});
