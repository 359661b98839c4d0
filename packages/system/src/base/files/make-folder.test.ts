import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder, makeFolderNow } from "./make-folder.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tau-folder-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe.each([
  ["makeFolder", makeFolder],
  ["makeFolderNow", async (path: string, mode?: number) => makeFolderNow(path, mode)],
])("%s", (_, make) => {
  it("creates missing folders with the given mode and leaves existing ones alone", async () => {
    await make(root);
    await make(join(root, "a/b/c"), 0o700);
    await make(join(root, "a/b/d/"));
    await make(join(root, "a/b"));
    expect(statSync(join(root, "a/b/d")).isDirectory()).toBe(true);
    if (process.platform === "win32") return;
    expect(["a", "a/b", "a/b/c"].map((path) => statSync(join(root, path)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o700,
    ]);
  });

  it("creates a folder once for concurrent callers", async () => {
    const path = join(root, "x/y/z");
    await Promise.all(Array.from({ length: 8 }, () => make(path)));
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it("fails if a part of the path is a file or a dangling link", async () => {
    writeFileSync(join(root, "file"), "");
    symlinkSync(join(root, "nowhere"), join(root, "link"));
    await expect(make(join(root, "file"))).rejects.toMatchObject({ code: "EEXIST" });
    await expect(make(join(root, "file/x/y"))).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(make(join(root, "link/x"))).rejects.toMatchObject({ code: expect.any(String) });
  });

  it.runIf(process.platform === "linux")(
    "ends with an error where the system allows no new folders",
    async () => {
      await expect(make("/proc/tau/x/y")).rejects.toMatchObject({ code: "ENOENT" });
    },
  );
});
