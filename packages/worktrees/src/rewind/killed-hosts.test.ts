import { fork } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyOf, createFolder, type TestFolder } from "./__fixtures__/folders.ts";

/** A host that is killed before its nth change to a file; returns its exit code, or null if it was killed. */
function killedHost({ folder, directory }: TestFolder, count: number, kind = "rewind") {
  const host = fork(
    join(import.meta.dirname, "__fixtures__/rewinding-host.ts"),
    [folder, directory, String(count), kind],
    { execArgv: ["-C", "@tau-agent/source"], stdio: ["ignore", "ignore", "inherit", "ipc"] },
  );
  return new Promise<number | null>((resolve) => host.once("exit", resolve));
}

const all = { entryId: "m0", isSince: () => true, position: 0, length: 9, leafId: null } as const;

async function withTwoPrompts(): Promise<TestFolder & { before: Map<string, string> }> {
  const test = createFolder("git");
  for (const name of ["a", "b", "d/c", "gone"]) test.write(name, `${name} before\n`);
  const before = copyOf(test.folder);
  const engine = await test.engine();
  for (const entry of ["m0", "m1"]) {
    await engine.begin(entry);
    for (const name of ["a", "b", "d/c", "new", "x/y/z"]) test.write(name, `${name} ${entry}\n`);
    if (entry === "m0") test.git("rm", "-q", "--cached", "README.md");
    await engine.end();
  }
  return Object.assign(test, { before });
}

it("a rewind that is killed at any point is either complete or not begun for the next host", async () => {
  let completed = 0;
  for (const count of [3, 6, 9, 14, 18, 24]) {
    const test = await withTwoPrompts();
    const changed = copyOf(test.folder);
    const code = await killedHost(test, count);
    if (code !== null) expect(code).toBe(7);
    const engine = await test.engine();
    await engine.recover();
    const found = Object.fromEntries(copyOf(test.folder));
    const isBack = found.a === test.before.get("a");
    if (isBack) completed += 1;
    expect(found, `killed before change ${count}`).toEqual(
      Object.fromEntries(isBack ? test.before : changed),
    );
    const { files } = await engine.takeBack({ ...all, dryRun: false });
    expect(files.conflicts).toEqual([]);
    expect(files.changed).toHaveLength(isBack ? 0 : 5);
    expect(Object.fromEntries(copyOf(test.folder))).toEqual(Object.fromEntries(test.before));
  }
  expect(completed).toBeGreaterThan(1);
});

it("the next host can take back the changes of a killed prompt", async () => {
  for (const count of [4, 14, 20]) {
    const test = await withTwoPrompts();
    const before = copyOf(test.folder);
    await killedHost(test, count, "begin");
    const engine = await test.engine();
    const infos = await engine.list(() => "text");
    const isChanged = copyOf(test.folder).has("late");
    expect(infos.some(({ entryId }) => entryId === "m9")).toBe(isChanged);
    const isSince = (entryId: string) => entryId === "m9";
    await engine.takeBack({ ...all, entryId: "m9", isSince, position: 9, dryRun: false });
    expect(Object.fromEntries(copyOf(test.folder))).toEqual(Object.fromEntries(before));
  }
});
