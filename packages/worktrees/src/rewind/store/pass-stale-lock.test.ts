import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { passStaleLock } from "./pass-stale-lock.ts";

function repository() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tau-lock-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const gitDir = join(folder, "store.git");
  const git = (...words: string[]) =>
    execFileSync("git", ["--git-dir", gitDir, ...words], {
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  execFileSync("git", ["init", "-q", "--bare", gitDir]);
  const tree = git("hash-object", "-w", "-t", "tree", "/dev/null");
  mkdirSync(join(gitDir, "refs/tau"));
  const lock = join(gitDir, "refs/tau/one.lock");
  const keep = () => passStaleLock(gitDir, async () => git("update-ref", "refs/tau/one", tree));
  return { gitDir, git, lock, keep, tree };
}

it("removes the lock of a killed git, and keeps the ref", async () => {
  const { git, lock, keep, tree } = repository();
  writeFileSync(lock, "");
  utimesSync(lock, 1, 1);
  await keep();
  expect(git("rev-parse", "refs/tau/one")).toBe(tree);
  expect(existsSync(lock)).toBe(false);
});

it("waits for a git that holds the lock", async () => {
  const { git, lock, keep, tree } = repository();
  writeFileSync(lock, "");
  setTimeout(() => rmSync(lock), 300);
  await keep();
  expect(git("rev-parse", "refs/tau/one")).toBe(tree);
});

it("passes on every other failure immediately, even with a lock elsewhere", async () => {
  const { gitDir } = repository();
  for (const text of ["fatal: bad object", "Unable to create '/etc/x.lock': File exists."]) {
    let runs = 0;
    const failing = passStaleLock(gitDir, async () => {
      runs += 1;
      throw new Error(text);
    });
    await expect(failing).rejects.toThrow(text);
    expect(runs).toBe(1);
  }
});
