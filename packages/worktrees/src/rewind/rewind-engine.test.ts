import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { copyOf, createFolder, link, type TestFolder } from "./__fixtures__/folders.ts";
import type { RewindEngine } from "./rewind-engine.ts";

const placeOf = (entry: string) => Number(entry.slice(1));

/** Takes back the changes of a message and of all later ones. */
function takeBack(engine: RewindEngine, entryId: string, more: object = {}) {
  return engine.takeBack({
    entryId,
    isSince: (other) => placeOf(other) >= placeOf(entryId),
    ...{ position: placeOf(entryId), length: 99, leafId: null, dryRun: false },
    ...more,
  });
}

async function prompt(engine: RewindEngine, entryId: string, work: () => void): Promise<void> {
  await engine.begin(entryId);
  work();
  await engine.end();
}

const read = ({ folder }: TestFolder, path: string) => readFileSync(join(folder, path), "utf8");
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");

describe.each(["plain", "git"] as const)("rewind in a %s folder", (kind) => {
  it("keeps later changes by the user, even in the same file", async () => {
    const test = createFolder(kind);
    test.write("a.txt", `top\r\n${lines(9)}end\r\n`);
    const engine = await test.engine();
    await prompt(engine, "m1", () => test.write("a.txt", `model\r\n${lines(9)}end\r\n`));
    test.write("a.txt", `model\r\n${lines(9)}user\r\n`);
    test.write("own.txt", "user\n");
    const { files } = await takeBack(engine, "m1");
    expect(files).toEqual({
      changed: [{ path: "a.txt", change: "restored" }],
      conflicts: [],
      notCovered: [],
    });
    expect(read(test, "a.txt")).toBe(`top\r\n${lines(9)}user\r\n`);
    expect(read(test, "own.txt")).toBe("user\n");
  });

  it("leaves a file in conflict alone, names it, and takes back the others", async () => {
    const test = createFolder(kind);
    for (const name of ["both", "gone", "other"]) test.write(name, "before\n");
    const engine = await test.engine();
    await prompt(engine, "m1", () => {
      for (const name of ["both", "gone", "other", "made"]) test.write(name, "model\n");
    });
    test.write("both", "user\n");
    test.write("made", "user\n");
    rmSync(join(test.folder, "gone"));
    const asked = await takeBack(engine, "m1", { dryRun: true });
    expect(read(test, "other")).toBe("model\n");
    expect(asked.undoCheckpointId).toBeUndefined();
    const { files, undoCheckpointId } = await takeBack(engine, "m1");
    expect(files).toEqual(asked.files);
    expect(files.changed).toEqual([{ path: "other", change: "restored" }]);
    expect(files.conflicts.map(({ path }) => path)).toEqual(["both", "gone", "made"]);
    expect([read(test, "both"), read(test, "made")]).toEqual(["user\n", "user\n"]);
    // Once the conflict is gone, the rest is taken back, too.
    test.write("both", "model\n");
    const again = await takeBack(engine, "m1");
    expect(again.files.changed).toEqual([{ path: "both", change: "restored" }]);
    await takeBack(engine, "m1", { undoes: again.undoCheckpointId });
    await takeBack(engine, "m1", { undoes: undoCheckpointId });
    expect([read(test, "both"), read(test, "other")]).toEqual(["model\n", "model\n"]);
  });

  it("goes forward again to a message after the one to which it went back", async () => {
    const test = createFolder(kind);
    test.write("f", "0");
    const engine = await test.engine();
    for (const at of [1, 2, 3]) await prompt(engine, `m${at}`, () => test.write("f", String(at)));
    await takeBack(engine, "m1");
    expect(read(test, "f")).toBe("0");
    await takeBack(engine, "m3");
    expect(read(test, "f")).toBe("2");
    await takeBack(engine, "m2");
    expect(read(test, "f")).toBe("1");
  });

  it("does not follow links out of the folder, and restores links as links", async () => {
    const test = createFolder(kind);
    test.write("d/f", "before\n");
    test.write("e/f", "before\n");
    link(join(test.folder, "l"), "d/f");
    const outside = join(test.root, "outside");
    mkdirSync(outside);
    const engine = await test.engine();
    await prompt(engine, "m1", () => {
      test.write("d/f", "model\n");
      test.write("d/new", "model\n");
      link(join(test.folder, "l"), outside);
      renameSync(join(test.folder, "e"), join(test.folder, "moved"));
      link(join(test.folder, "e"), outside);
    });
    renameSync(join(test.folder, "d"), join(outside, "d"));
    link(join(test.folder, "d"), join(outside, "d"));
    const { files } = await takeBack(engine, "m1");
    expect(files.conflicts).toEqual([
      { path: "d/f", reason: expect.stringContaining("symbolic link") },
      { path: "d/new", reason: expect.stringContaining("symbolic link") },
    ]);
    expect(Object.fromEntries(copyOf(test.folder))).toMatchObject({
      d: `link ${outside}/d`,
      "e/f": "file 644 before\n",
      l: "link d/f",
    });
    expect(copyOf(outside)).toEqual(
      new Map([
        ["d/f", "file 644 model\n"],
        ["d/new", "file 644 model\n"],
      ]),
    );
  });

  it("restores permissions, folders in place of files, and names of any bytes", async () => {
    const test = createFolder(kind);
    const odd = Buffer.concat([Buffer.from(`${test.folder}/`), Buffer.from([0x66, 0xff, 0x0a])]);
    writeFileSync(odd, "before\n");
    test.write("secret", "key\n", 0o600);
    test.write("run", "#!/bin/sh\n", 0o755);
    test.write("tree/leaf", "leaf\n");
    mkdirSync(join(test.folder, "empty"));
    const before = copyOf(test.folder);
    const engine = await test.engine();
    await prompt(engine, "m1", () => {
      writeFileSync(odd, "model\n");
      chmodSync(join(test.folder, "secret"), 0o644);
      rmSync(join(test.folder, "run"));
      rmSync(join(test.folder, "tree"), { recursive: true });
      test.write("tree", "a file\n");
      test.write("empty/full", "x");
      test.write("deep/er/file", "x");
    });
    const { files } = await takeBack(engine, "m1");
    expect(files.conflicts).toEqual([]);
    expect(copyOf(test.folder)).toEqual(before);
  });

  it("names files that it does not record, and leaves them alone", async () => {
    const test = createFolder(kind);
    test.write("big", "x".repeat(99));
    test.write("small", "1");
    const limits = { maxFileBytes: 50, maxTotalBytes: 1e6 };
    const engine = await test.engine({ limits });
    await prompt(engine, "m1", () => {
      test.write("big", "changed by the model");
      test.write("small", "y".repeat(99));
    });
    expect(await engine.list(() => "t")).toMatchObject([{ notCovered: ["big"] }]);
    const { files } = await takeBack(engine, "m1");
    expect(files).toEqual({ changed: [], conflicts: [], notCovered: ["big", "small"] });
    expect(read(test, "small")).toBe("y".repeat(99));
  });

  it("keeps a limited number of checkpoints, and refuses to go back further", async () => {
    const test = createFolder(kind);
    const engine = await test.engine({ keep: 2 });
    for (const at of [1, 2, 3, 4]) await prompt(engine, `m${at}`, () => test.write("f", `${at}`));
    const infos = await engine.list(() => "t");
    expect(infos.map(({ entryId }) => entryId)).toEqual(["m3", "m4"]);
    await expect(takeBack(engine, "m2")).rejects.toMatchObject({ code: "checkpoint_dropped" });
    await takeBack(engine, "m3");
    expect(read(test, "f")).toBe("2");
  });

  it("lists a prompt once, and only if it changed files", async () => {
    const test = createFolder(kind);
    const engine = await test.engine();
    await prompt(engine, "m1", () => {});
    await prompt(engine, "m2", () => test.write("a", "1"));
    await prompt(engine, "m2", () => test.write("b", "1"));
    await engine.begin("m3");
    test.write("c", "1");
    expect((await engine.list(() => "t")).map(({ entryId }) => entryId)).toEqual(["m2"]);
    await engine.begin("m4");
    test.write("c", "2");
    await engine.end();
    const infos = await (await test.engine()).list((id) => `text of ${id}`);
    expect(infos).toEqual(
      ["m2", "m3", "m4"].map((entryId) => ({
        ...{ id: expect.stringMatching(/^cp-/), entryId, text: `text of ${entryId}` },
        timestamp: expect.any(Number),
      })),
    );
    await takeBack(await test.engine(), "m2");
    expect(["a", "b", "c"].filter((name) => copyOf(test.folder).has(name))).toEqual([]);
  });

  it("records nothing in the agent's own folder, and restores nothing that hosts read", async () => {
    const test = createFolder(kind);
    test.write(".pi/agent/sessions/s.jsonl", "one\n");
    test.write(".pi/settings.json", "{}");
    const ownFolders = [join(test.folder, ".pi/agent")];
    const engine = await test.engine({ ownFolders });
    await prompt(engine, "m1", () => {
      test.write(".pi/agent/sessions/s.jsonl", "one\ntwo\n");
      test.write(".pi/settings.json", "[]");
    });
    const { files } = await takeBack(engine, "m1");
    expect(files.notCovered).toEqual([".pi/agent"]);
    expect(files.conflicts.map(({ path }) => path)).toEqual([".pi/settings.json"]);
    expect(read(test, ".pi/agent/sessions/s.jsonl")).toBe("one\ntwo\n");
    expect(read(test, ".pi/settings.json")).toBe("[]");
  });

  it("stores its data readable by the owner only", async () => {
    const test = createFolder(kind);
    const objects = join(test.folder, ".git/objects");
    const known = new Set<string>(
      kind === "git" ? readdirSync(objects, { recursive: true, encoding: "utf8" }) : [],
    );
    test.write("secret", "the secret of this test\n", 0o600);
    await prompt(await test.engine(), "m1", () => test.write("f", "x"));
    const roots = kind === "git" ? [objects, test.directory] : [test.directory];
    for (const root of roots) {
      for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
        if (root === objects && known.has(name)) continue;
        const stats = statSync(join(root, name));
        expect((stats.mode & 0o777).toString(8), name).toBe(stats.isDirectory() ? "700" : "600");
      }
    }
  });
});

describe("rewind in a repository", () => {
  it("leaves out ignored folders that are too large, the largest first", async () => {
    const test = createFolder("git");
    test.write(".gitignore", "small/\nlarge/\n*.log\n");
    for (const name of ["small/f", "large/f", "x.log", "untracked"]) test.write(name, "1");
    test.write("large/much", "x".repeat(500));
    const engine = await test.engine({ limits: { maxFileBytes: 1e6, maxTotalBytes: 300 } });
    await prompt(engine, "m1", () => {
      for (const name of ["small/f", "large/f", "x.log", "untracked"]) test.write(name, "2");
    });
    const { files } = await takeBack(engine, "m1");
    expect(files.notCovered).toEqual(["large"]);
    expect(files.changed.map(({ path }) => path)).toEqual(["small/f", "untracked", "x.log"]);
    expect(read(test, "large/f")).toBe("2");
  });

  it("is not included in a push", async () => {
    const test = createFolder("git");
    await prompt(await test.engine(), "m1", () => test.write("f", "x"));
    const remote = join(test.root, "remote.git");
    test.git("init", "--quiet", "--bare", remote);
    test.git("push", "--quiet", "--all", remote);
    test.git("push", "--quiet", "--tags", remote);
    const refs = test.git("--git-dir", remote, "for-each-ref", "--format=%(refname)");
    expect(refs).toBe("refs/heads/main\n");
    expect(test.git("for-each-ref", "refs/tau/checkpoints")).not.toBe("");
  });

  it("still goes back after git has packed and pruned its objects", async () => {
    const test = createFolder("git");
    test.write("kept", "before\n");
    const before = copyOf(test.folder);
    await prompt(await test.engine(), "m1", () => {
      test.write("kept", "after\n");
      test.write("new", "x");
    });
    test.git("gc", "--quiet", "--prune=now");
    const { files } = await takeBack(await test.engine(), "m1");
    expect(files.conflicts).toEqual([]);
    expect(copyOf(test.folder)).toEqual(before);
  });

  it("reads a file again that changed without a change in size or time", async () => {
    const test = createFolder("git");
    const engine = await test.engine();
    test.write("f", "one");
    await prompt(engine, "m1", () => test.write("f", "two"));
    test.write("f", "six");
    await prompt(engine, "m2", () => test.write("f", "ten"));
    await takeBack(engine, "m2");
    expect(read(test, "f")).toBe("six");
  });
});
