import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemReason } from "./system-reason.ts";

function failure(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return expect.fail("it did not fail");
}

it("explains a real system's error in words, without the path", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-reason-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "it's a file");
  writeFileSync(file, "");
  const acts: readonly [() => unknown, string][] = [
    [() => readFileSync(folder), "it is a folder, not a file (EISDIR)"],
    [() => readFileSync(join(file, "x")), "a part of the path is a file, not a folder (ENOTDIR)"],
    [() => mkdirSync(file), "a part of the path is a file, not a folder (EEXIST)"],
    [() => readFileSync(join(folder, "none")), "no such file or directory (ENOENT)"],
  ];
  for (const [act, reason] of acts) expect(systemReason(failure(act))).toBe(reason);
});

it("says what to check when permission is denied", () => {
  const error = new Error("EACCES: permission denied, mkdir '/x/y'");
  expect(systemReason(error)).toBe(
    "permission denied; check the permissions of the file and its folders (EACCES)",
  );
});

it("leaves other errors unchanged", () => {
  expect(systemReason(new Error("it broke, somehow"))).toBe("it broke, somehow");
  expect(systemReason("odd")).toBe("odd");
});
