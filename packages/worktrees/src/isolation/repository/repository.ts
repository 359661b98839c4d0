import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ToolError } from "@tau-agent/agent";
import type { Git, GitLocation } from "../../git/git.ts";
import { ownSettings } from "./own-settings.ts";
import { followGitFile, makePrivateCopy } from "./private-copy.ts";
import { listUntracked, sortBySize } from "./untracked.ts";

/** A working tree and the repository that keeps its states. */
export interface Repository {
  /** The top of the working tree. */
  readonly root: string;
  /** The path from the root to the caller's folder; empty, or with a trailing slash. */
  readonly prefix: string;
  /** The folder where worktrees are registered. */
  readonly commonDir: string;
  /** Git's files for this working tree: its index, its HEAD. */
  readonly gitDir: string;
  /** How git works on files and objects: with our own repository, which has the relevant settings but no refs. */
  readonly location: GitLocation;
  /** The text of the `config` with those settings. */
  readonly settings: string;
  /** Whether the folder is in no repository, so that a private one was made for it. */
  readonly isPrivate: boolean;
}

/** What opening a repository needs to know. */
export interface OpenOptions {
  /** The folder for files that git needs. */
  readonly folder: string;
  /** Whether the repository's own configuration may start programs. */
  readonly isTrusted: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds the repository of `cwd`, or creates a private one in `folder`.
 *
 * @throws {ToolError} no git, a repository that cannot be used, a folder over the size limit, a filter
 * of an untrusted repository
 */
export async function openRepository(
  git: Git,
  cwd: string,
  options: OpenOptions & { maxCopyBytes: number },
): Promise<Repository> {
  const found = await findRepository(git, cwd, options);
  if (!("problem" in found)) return found;
  if (found.problem.includes("not a git repository")) {
    return createPrivateRepository(git, cwd, options);
  }
  throw new ToolError(`The repository of ${cwd} cannot be used: ${found.problem.trim()}`);
}

export async function findRepository(
  git: Git,
  cwd: string,
  options: OpenOptions,
): Promise<Repository | { readonly problem: string }> {
  const places = ["--show-toplevel", "--show-prefix", "--git-common-dir", "--git-dir"];
  const found = await git.try(["rev-parse", ...places], { cwd, signal: options.signal });
  if (found.exitCode !== 0) return { problem: found.stderr };
  const [root = cwd, prefix = "", common = "", own = ""] = found.stdout.split("\n");
  const [commonDir, gitDir] = [resolve(cwd, common), resolve(cwd, own)];
  if (!(await isTopOf(root, gitDir))) {
    return {
      problem: `the settings in ${gitDir} make ${root} its folder, which has no .git for it`,
    };
  }
  const copy = await makePrivateCopy(git, { root, gitDir, commonDir }, options);
  return { root, prefix, commonDir, gitDir, isPrivate: false, ...copy };
}

/** Whether the folder itself names this repository: settings alone could name any folder. */
async function isTopOf(root: string, gitDir: string): Promise<boolean> {
  const named = await followGitFile(join(root, ".git")).catch(() => undefined);
  if (named === undefined) return false;
  const [one, other] = await Promise.all([realpath(named), realpath(gitDir)]).catch(() => [1, 2]);
  return one === other;
}

/** The repository with its refs, for commands that only read or write refs. */
export function withRefs({ root, gitDir, location, isPrivate }: Repository): GitLocation {
  return isPrivate ? location : { gitDir, workTree: root };
}

async function createPrivateRepository(
  git: Git,
  cwd: string,
  options: OpenOptions & { maxCopyBytes: number },
): Promise<Repository> {
  const gitDir = join(options.folder, "repository");
  await mkdir(gitDir, { recursive: true });
  await git.run(["init", "--quiet", "--bare", gitDir], { cwd: gitDir, signal: options.signal });
  const location = { gitDir, workTree: cwd };
  await git.run(["config", "core.bare", "false"], { cwd, location, signal: options.signal });
  const folders = { root: cwd, prefix: "", commonDir: gitDir, gitDir };
  const files = await listUntracked(git, { cwd, location, signal: options.signal });
  const { bytes } = await sortBySize(cwd, files);
  if (bytes > options.maxCopyBytes) {
    throw new ToolError(
      `${cwd} is not in a git repository and is too large to copy (over ${options.maxCopyBytes} bytes, setting isolation.maxCopyBytes). Run git init there, or run the task without isolated.`,
    );
  }
  const where = { gitDir: options.folder, commonDir: gitDir, isTrusted: false };
  const { text: settings } = await ownSettings(git, { cwd, location }, where);
  return { ...folders, location, settings, isPrivate: true };
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

/** The checked-out commit; undefined before the first one. */
export async function headOf(git: Git, repository: Repository): Promise<string | undefined> {
  const { root: cwd } = repository;
  const location = withRefs(repository);
  const args = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
  const { exitCode, stdout } = await git.try(args, { cwd, location });
  return exitCode === 0 ? stdout.trim() : undefined;
}
