import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readlink, rm, symlink, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { withFileLock } from "../../files/write-file.ts";
import { randomHex } from "../../random.ts";
import type { Git, GitRequest } from "./git.ts";
import type { Repository } from "./repository.ts";

/** Copies under way at one time; more only wait for the disk. */
const COPIES = 16;

/** A working tree of its own for one task. */
export interface Worktree {
  readonly path: string;
  /** What git keeps about it inside the repository. */
  readonly adminDir: string;
}

/** Makes a worktree with the files of `commit`, as the caller's own stand on the disk. */
export async function createWorktree(
  git: Git,
  repository: Repository,
  options: { path: string; commit: string; signal: AbortSignal | undefined },
): Promise<Worktree> {
  const { path, commit, signal } = options;
  const { root: cwd, location } = repository;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const args = ["worktree", "add", "--quiet", "--detach", "--no-checkout", path, commit];
  // git stumbles over worktrees that are being registered by somebody else.
  const registry = join(repository.commonDir, "tau-worktrees");
  await withFileLock(registry, () => git.run(args, { cwd, location, signal }));
  const inside = { cwd: path, signal };
  const adminDir = (await git.run(["rev-parse", "--absolute-git-dir"], inside)).trim();
  await cloneFiles(git, repository, { ...inside, commit });
  // Writes what is missing or differs, and nothing else.
  await git.run(["reset", "--quiet", "--hard", commit], inside);
  return { path, adminDir };
}

/** Removes a worktree and what git knows of it; other worktrees are not looked at. */
export async function removeWorktree({ path, adminDir }: Worktree): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  if (basename(dirname(adminDir)) === "worktrees") {
    await rm(adminDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Where the file system can share blocks between files (APFS, Btrfs, XFS, ReFS), takes the caller's
 * files over in that way: no disk is used until one is changed. Elsewhere does nothing.
 */
async function cloneFiles(
  git: Git,
  { root }: Repository,
  options: Pick<GitRequest, "cwd" | "signal"> & { commit: string },
): Promise<void> {
  const { cwd: target, commit, signal } = options;
  const args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit];
  const files = (await git.run(args, { cwd: target, signal })).split("\0").filter(Boolean);
  const [first] = files;
  if (first === undefined || !(await canShareBlocks(root, files, target))) return;
  const folders = new Set(files.map((file) => dirname(join(target, file))));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const queue = files.values();
  const workers = Array.from({ length: COPIES }, async () => {
    for (const file of queue) {
      if (signal?.aborted) return;
      // One that was removed or changed meanwhile is written by git afterwards.
      await cloneFile(join(root, file), join(target, file)).catch(() => undefined);
    }
  });
  await Promise.all(workers);
}

async function canShareBlocks(
  root: string,
  files: readonly string[],
  target: string,
): Promise<boolean> {
  const probe = join(target, `.probe-${randomHex(6)}`);
  for (const file of files.slice(0, 100)) {
    const found = await lstat(join(root, file)).catch(() => undefined);
    if (!found?.isFile() || found.size === 0) continue;
    try {
      await copyFile(join(root, file), probe, constants.COPYFILE_FICLONE_FORCE);
      return true;
    } catch {
      return false;
    } finally {
      await rm(probe, { force: true });
    }
  }
  return false;
}

async function cloneFile(source: string, target: string): Promise<void> {
  const found = await lstat(source);
  if (found.isSymbolicLink()) await symlink(await readlink(source), target);
  else if (found.isFile()) {
    await copyFile(source, target, constants.COPYFILE_FICLONE);
    await utimes(target, found.atime, found.mtime);
  }
}
