import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalWorkspace } from "@tau-agent/system";
import { afterEach, beforeEach, expect, it } from "vitest";
import { existingPath, resolvePath } from "./paths.ts";

const base = {
  cwd: "/work",
  homeDirectory: "/home/me",
  workspace: createLocalWorkspace({ cwd: "/" }),
};
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-paths-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it.each([
  ["a/b.ts", "/work/a/b.ts"],
  ["@a/b.ts", "/work/a/b.ts"],
  ["/etc/x", "/etc/x"],
  ["~", "/home/me"],
  ["~/x", "/home/me/x"],
  ["file:///tmp/a%20b", "/tmp/a b"],
  ["file:///tmp/100%", "/tmp/100%"],
  ["a\u00A0b", "/work/a b"],
  ["../x", "/x"],
])("resolves %s to %s", async (written, expected) => {
  expect(await resolvePath(written, base)).toBe(expected);
});

it.each([
  ["Screenshot 2026 at 9.41.00 PM.png", "Screenshot 2026 at 9.41.00\u202FPM.png"],
  ["Screenshot 9.41 am.png", "Screenshot 9.41\u202Fam.png"],
  ["caf\u00E9.txt", "cafe\u0301.txt"],
  ["Capture d'\u00E9cran.png", "Capture d\u2019e\u0301cran.png"],
  ["it's.txt", "it\u2019s.txt"],
  ["odd\u00A0name.txt", "odd\u00A0name.txt"],
])("finds %s under its spelling on disk", async (written, onDisk) => {
  writeFileSync(join(directory, onDisk), "");
  const found = await existingPath(written, { ...base, cwd: directory });
  expect(found).toBe(join(directory, onDisk));
});

it("keeps the plain path if no other spelling exists", async () => {
  const found = await existingPath("none", { ...base, cwd: directory });
  expect(found).toBe(join(directory, "none"));
});

it("takes a name with @ literally if such a file or folder exists", async () => {
  writeFileSync(join(directory, "@notes"), "");
  mkdirSync(join(directory, "@scope"));
  const own = { ...base, cwd: directory };
  expect(await resolvePath("@notes", own)).toBe(join(directory, "@notes"));
  expect(await resolvePath("@scope/new", own)).toBe(join(directory, "@scope", "new"));
  expect(await existingPath("@other/x", own)).toBe(join(directory, "other", "x"));
  expect(await resolvePath("@/etc/x", own)).toBe("/etc/x");
});

it("writes paths in the workspace's notation, whatever this machine is", async () => {
  const windows = { ...base, cwd: "C:\\work", homeDirectory: "C:\\Users\\me", isWindows: true };
  expect(await resolvePath("a/b.ts", windows)).toBe("C:\\work\\a\\b.ts");
  expect(await resolvePath("~/x", windows)).toBe("C:\\Users\\me\\x");
  expect(await resolvePath("file:///C:/a%20b", windows)).toBe("C:\\a b");
});
