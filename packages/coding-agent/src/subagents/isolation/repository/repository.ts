import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ToolError } from "@tau-agent/agent";
import type { Git, GitRequest } from "./git.ts";
import { listUntracked, sortBySize } from "./untracked.ts";

/** A working tree and the repository its states are kept in. */
export interface Repository {
  /** Top of the working tree. */
  readonly root: string;
  /** Path from the root to the caller's folder; empty, or with a trailing slash. */
  readonly prefix: string;
  /** The folder in which worktrees are registered. */
  readonly commonDir: string;
  /** What git keeps about this working tree: its index, its HEAD. */
  readonly gitDir: string;
  /** Set when the folder is in no repository and a private one was made for it. */
  readonly location: GitRequest["location"];
}

/**
 * Finds the repository of `cwd`, or creates a private one in `folder`.
 *
 * @throws {ToolError} no git, a repository that cannot be used, a folder over the size limit
 */
export async function openRepository(
  git: Git,
  cwd: string,
  options: { folder: string; maxCopyBytes: number; signal: AbortSignal | undefined },
): Promise<Repository> {
  const found = await findRepository(git, { cwd, signal: options.signal });
  if (!("problem" in found)) return found;
  if (found.problem.includes("not a git repository")) {
    return createPrivateRepository(git, cwd, options);
  }
  throw new ToolError(`The repository of ${cwd} cannot be used: ${found.problem.trim()}`);
}

/** The repository that a folder is in, or why git has none. */
export async function findRepository(
  git: Git,
  { cwd, signal }: Pick<GitRequest, "cwd" | "signal">,
): Promise<Repository | { readonly problem: string }> {
  const places = ["--show-toplevel", "--show-prefix", "--git-common-dir", "--git-dir"];
  const found = await git.try(["rev-parse", ...places], { cwd, signal });
  if (found.exitCode !== 0) return { problem: found.stderr };
  const [root = cwd, prefix = "", common = "", own = ""] = found.stdout.split("\n");
  const [commonDir, gitDir] = [resolve(cwd, common), resolve(cwd, own)];
  return { root, prefix, commonDir, gitDir, location: undefined };
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
  const files = await listUntracked(git, { cwd, location, signal: options.signal });
  const { bytes } = await sortBySize(cwd, files);
  if (bytes > options.maxCopyBytes) {
    throw new ToolError(
      `${cwd} is not in a git repository and is too large to copy (over ${options.maxCopyBytes} bytes, setting isolation.maxCopyBytes). Run git init there, or run the task without isolated.`,
    );
  }
  return repository;
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
