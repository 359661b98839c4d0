import { copyFile, lstat, mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { errorCode } from "../../files/read-text.ts";
import { randomHex } from "../../random.ts";
import type { Git, GitRequest } from "./git.ts";

/** Untracked files larger than this stay where they are. */
const MAX_UNTRACKED_BYTES = 50 * 1024 * 1024;

/** A working tree and the repository its states are kept in. */
export interface Repository {
  /** Top of the working tree. */
  readonly root: string;
  /** From the top to the folder the task was called in; empty or with a slash at its end. */
  readonly prefix: string;
  /** Where worktrees are registered. */
  readonly commonDir: string;
  /** What git keeps about this working tree: its index, its HEAD. */
  readonly gitDir: string;
  /** Set when the folder is in no repository and a private one was made for it. */
  readonly location: GitRequest["location"];
}

/** A state of a working tree: everything but ignored files. */
export interface Snapshot {
  readonly tree: string;
  /** An index with exactly that, which knows the files on the disk. */
  readonly indexFile: string;
  /** Untracked files that were too large, from the top. */
  readonly leftOut: readonly string[];
}

/**
 * Finds the repository of `cwd`, or makes a private one in `folder` when there is none.
 *
 * @throws {ToolError} no git, a repository that cannot be used, a folder over the size limit
 */
export async function openRepository(
  git: Git,
  cwd: string,
  options: { folder: string; maxCopyBytes: number; signal: AbortSignal | undefined },
): Promise<Repository> {
  const { signal } = options;
  const places = ["--show-toplevel", "--show-prefix", "--git-common-dir", "--git-dir"];
  const args = ["rev-parse", ...places];
  const found = await git.try(args, { cwd, signal });
  if (found.exitCode === 0) {
    const [root = cwd, prefix = "", common = "", own = ""] = found.stdout.split("\n");
    const [commonDir, gitDir] = [resolve(cwd, common), resolve(cwd, own)];
    return { root, prefix, commonDir, gitDir, location: undefined };
  }
  if (!found.stderr.includes("not a git repository")) {
    throw new ToolError(`The repository of ${cwd} cannot be used: ${found.stderr.trim()}`);
  }
  return createPrivateRepository(git, cwd, options);
}

async function createPrivateRepository(
  git: Git,
  cwd: string,
  options: { folder: string; maxCopyBytes: number; signal: AbortSignal | undefined },
): Promise<Repository> {
  const gitDir = join(options.folder, "repository");
  await mkdir(gitDir, { recursive: true });
  await git.run(["init", "--quiet", "--bare", gitDir], { cwd: gitDir, signal: options.signal });
  await git.run(["config", "core.bare", "false"], { cwd: gitDir, signal: options.signal });
  const location = { gitDir, workTree: cwd };
  const repository = { root: cwd, prefix: "", commonDir: gitDir, gitDir, location };
  const files = await untracked(git, repository, { signal: options.signal });
  let total = 0;
  for (const file of files) {
    total += (await sizeOf(join(cwd, file))) ?? 0;
    if (total > options.maxCopyBytes) {
      throw new ToolError(
        `${cwd} is in no git repository and too large to copy (over ${options.maxCopyBytes} bytes, setting isolation.maxCopyBytes). Run git init there, or run the task without isolated.`,
      );
    }
  }
  return repository;
}

/** Records the state of a working tree without touching its index, its refs or its files. */
export async function takeSnapshot(
  git: Git,
  repository: Repository,
  options: { folder: string; signal: AbortSignal | undefined },
): Promise<Snapshot> {
  const { root: cwd, location } = repository;
  const name = randomHex(6);
  const indexFile = join(options.folder, `${name}.index`);
  const request = { cwd, location, indexFile, signal: options.signal };
  await copyIndex(git, { cwd, location, signal: options.signal }, indexFile);
  await git.run(["add", "--update", "--", "."], request);
  const found = await untracked(git, repository, request);
  const sizes = await Promise.all(found.map((file) => sizeOf(join(cwd, file))));
  const leftOut = found.filter((_, index) => (sizes[index] ?? 0) > MAX_UNTRACKED_BYTES);
  const added = found.filter((_, index) => (sizes[index] ?? Infinity) <= MAX_UNTRACKED_BYTES);
  if (added.length > 0) {
    const list = join(options.folder, `${name}.paths`);
    await writeFile(list, added.join("\0"));
    const from = ["--pathspec-file-nul", `--pathspec-from-file=${list}`];
    const add = ["--literal-pathspecs", "add"];
    const { exitCode, stderr } = await git.try([...add, ...from], request);
    // Files outside of a sparse checkout's paths are wanted, too; older versions of git know no such option.
    if (exitCode !== 0) {
      const option = stderr.includes("--sparse") ? ["--sparse"] : [];
      await git.run([...add, ...option, ...from], request);
    }
  }
  const tree = (await git.run(["write-tree"], request)).trim();
  return { tree, indexFile, leftOut };
}

/** Keeps a tree as a commit that no ref points to. */
export async function commitTree(
  git: Git,
  repository: Repository,
  commit: { tree: string; parent: string | undefined; message: string },
): Promise<string> {
  const parent = commit.parent === undefined ? [] : ["-p", commit.parent];
  const args = ["commit-tree", commit.tree, ...parent, "-m", commit.message];
  const { root: cwd, location } = repository;
  return (await git.run(args, { cwd, location })).trim();
}

/** The commit that is checked out; undefined before the first one. */
export async function headOf(git: Git, repository: Repository): Promise<string | undefined> {
  const { root: cwd, location } = repository;
  const args = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
  const { exitCode, stdout } = await git.try(args, { cwd, location });
  return exitCode === 0 ? stdout.trim() : undefined;
}

async function copyIndex(git: Git, request: GitRequest, indexFile: string): Promise<void> {
  const path = (await git.run(["rev-parse", "--git-path", "index"], request)).trim();
  try {
    await copyIndexFile(isAbsolute(path) ? path : join(request.cwd, path), indexFile);
  } catch (error) {
    // A repository in which nothing was ever added has none.
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/**
 * Copies an index with its time: files that are not older than it are what git looks into, because
 * they may have been changed within the same second.
 */
export async function copyIndexFile(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
}

/** Untracked files that are not ignored; repositories inside the tree are left alone. */
async function untracked(
  git: Git,
  { root: cwd, location }: Repository,
  request: Pick<GitRequest, "indexFile" | "signal">,
): Promise<string[]> {
  const args = ["ls-files", "-z", "--others", "--exclude-standard"];
  const output = await git.run(args, { ...request, cwd, location });
  return output.split("\0").filter((file) => file !== "" && !file.endsWith("/"));
}

/** Bytes of a file or link; undefined for what git does not keep, or what is gone. */
async function sizeOf(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() || found?.isSymbolicLink() ? found.size : undefined;
}
