import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { LocalWorkspace } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { copyOf, createFolder, type FolderKind, link } from "./__fixtures__/folders.ts";
import type { RewindEngine } from "./rewind-engine.ts";

/** A folder in a workspace that is actually this machine, but is not recognised as such. */
function elsewhere(kind: FolderKind) {
  const test = createFolder(kind);
  const local = new LocalWorkspace({
    cwd: test.folder,
    environment: test.environment.environment,
    homeDirectory: join(test.root, "home"),
  });
  const starts: string[] = [];
  const spawn = local.spawn.bind(local);
  local.spawn = (options) => {
    starts.push(String(options.command));
    return spawn(options);
  };
  Object.defineProperty(local, "id", { value: "box" });
  const engine = (more: object = {}) => test.engine({ elsewhere: local, ...more });
  return { ...test, starts, engine, files: () => copyOf(test.folder) };
}

const placeOf = (entry: string) => Number(entry.slice(1));

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

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");

describe.each(["plain", "git", "busy-git"] as const)("rewind elsewhere, in a %s folder", (kind) => {
  it("takes back a prompt, keeps later changes by the user, and can be undone", async () => {
    const there = elsewhere(kind);
    const odd = "sp ace [x] \u00fc\nline";
    there.write("a.txt", `top\r\n${lines(9)}end\r\n`);
    there.write("tool", "#!/bin/sh\n", 0o755);
    there.write("deep/er/gone.txt", "gone\n");
    link(join(there.folder, "link"), "a.txt");
    // The preparation has run them.
    const marks = ["filtered", "hooked", "monitored"].map((name) => join(there.root, name));
    for (const mark of marks) rmSync(mark, { force: true });
    const engine = await there.engine();
    const before = there.files();
    await prompt(engine, "m1", () => {
      there.write("a.txt", `model\r\n${lines(9)}end\r\n`);
      there.write(odd, "odd\n");
      there.write("new/folder/file", "new\n");
      chmodSync(join(there.folder, "tool"), 0o644);
      rmSync(join(there.folder, "deep"), { recursive: true });
      link(join(there.folder, "link"), "tool");
    });
    there.write("own.txt", "user\n");
    there.write("a.txt", `model\r\n${lines(9)}user\r\n`);
    const after = there.files();
    const { files, undoCheckpointId } = await takeBack(engine, "m1");
    expect(files.conflicts).toEqual([]);
    expect(files.changed.map(({ path, change }) => `${change} ${path}`).sort()).toEqual([
      "created deep/er/gone.txt",
      "deleted new/folder/file",
      `deleted ${odd}`,
      "restored a.txt",
      "restored link",
      "restored tool",
    ]);
    const expected = new Map(before);
    expected.set("a.txt", `file 644 top\r\n${lines(9)}user\r\n`);
    expected.set("own.txt", "file 644 user\n");
    expect(there.files()).toEqual(expected);
    await takeBack(engine, "m1", { undoes: undoCheckpointId });
    expect(there.files()).toEqual(after);
    // No program of the project or of the user has run.
    expect(marks.filter((mark) => existsSync(mark))).toEqual([]);
  });

  it("keeps its store where only the user can read it, and nothing on this machine", async () => {
    const there = elsewhere(kind);
    const engine = await there.engine();
    await prompt(engine, "m1", () => there.write("secret.txt", "the secret\n"));
    expect(statSync(join(there.root, "home/.cache/tau")).mode & 0o777).toBe(0o700);
    const found = execFileSync("sh", ["-c", "find agent -type f | sort"], {
      cwd: there.root,
      encoding: "utf8",
    });
    expect(found).toMatch(/^agent\/rewind\/journals\/[0-9a-f]{32}-apart\.jsonl\n$/);
    expect(readFileSync(join(there.root, found.trim()), "utf8")).not.toContain("the secret");
  });
});

it("needs two round trips at the beginning of a prompt, and a few at its end", async () => {
  const there = elsewhere("git");
  const engine = await there.engine();
  await prompt(engine, "m1", () => there.write("a", "1\n"));
  there.starts.length = 0;
  await engine.begin("m2");
  expect(there.starts).toHaveLength(2);
  there.write("a", "2\n");
  await engine.end();
  expect(there.starts.length).toBeLessThanOrEqual(5);
});

it("leaves out large files and nested repositories, and reports them", async () => {
  const there = elsewhere("plain");
  there.write("big [1]", "x".repeat(2000));
  there.write("inner/.git/HEAD", "ref: refs/heads/none\n");
  there.write("inner/file", "inner\n");
  const engine = await there.engine({ limits: { maxFileBytes: 1000, maxTotalBytes: 1e9 } });
  await prompt(engine, "m1", () => {
    there.write("big [1]", "y".repeat(2000));
    there.write("inner/file", "changed\n");
    there.write("small", "s");
  });
  const { files } = await takeBack(engine, "m1");
  expect(files.notCovered).toEqual(["big [1]", "inner"]);
  expect(files.changed).toEqual([{ path: "small", change: "deleted" }]);
  expect(readFileSync(join(there.folder, "big [1]"), "utf8")[0]).toBe("y");
});

it("never writes files that a host reads", async () => {
  const there = elsewhere("plain");
  const engine = await there.engine();
  await prompt(engine, "m1", () => there.write(".mcp.json", "{}"));
  const { files } = await takeBack(engine, "m1");
  expect(files.conflicts).toMatchObject([{ path: ".mcp.json" }]);
  expect(existsSync(join(there.folder, ".mcp.json"))).toBe(true);
});

it("continues with the records of a killed host", async () => {
  const there = elsewhere("git");
  const first = await there.engine();
  await first.begin("m1");
  there.write("a.txt", "model\n");
  const second = await there.engine();
  await second.recover();
  expect(await second.list(() => "text")).toMatchObject([{ entryId: "m1" }]);
  await takeBack(second, "m1");
  expect(existsSync(join(there.folder, "a.txt"))).toBe(false);
});
