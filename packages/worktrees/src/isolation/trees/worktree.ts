import { mkdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@tau-agent/agent";
import type { Git, GitRequest } from "../../git/git.ts";
import { followGitFile } from "../repository/private-copy.ts";
import { type Repository, withRefs } from "../repository/repository.ts";
import { copyIndexFile } from "../repository/snapshot.ts";
import { cloneFiles } from "./clone-files.ts";

/** The number of attempts to register a worktree, and the pause before the second one. */
const ATTEMPTS = 4;
const RETRY_MS = 60;

export interface Worktree {
  readonly path: string;
  /** Git's files for the worktree inside the repository. */
  readonly adminDir: string;
}

/** A state of the caller's files, and the index made when they were recorded. */
interface WorktreeSource {
  readonly path: string;
  readonly commit: string;
  readonly indexFile: string;
  readonly signal: AbortSignal | undefined;
  /** Runs registrations one after another. */
  readonly register: (work: () => Promise<void>) => Promise<void>;
}

/** Creates a worktree with the files of `commit`, sharing disk blocks with the caller's where possible. */
export async function createWorktree(
  git: Git,
  repository: Repository,
  source: WorktreeSource,
): Promise<Worktree> {
  const { path, commit, signal } = source;
  const [cwd, registry] = [repository.root, withRefs(repository)];
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const request = { cwd, location: registry, signal };
  await source.register(() => addWorktree(git, request, { path, commit }));
  const adminDir = await followGitFile(join(path, ".git"));
  const cloned = await cloneTree(git, repository, { ...source, adminDir });
  // Writes only files that are missing or different.
  const location = { ...repository.location, workTree: path };
  const inside = { cwd: path, location, indexFile: join(adminDir, "index"), signal };
  await git.run([...cloned, "read-tree", "--reset", "-u", commit], inside);
  return { path, adminDir };
}

/** Retries, because git fails while another process registers a worktree. */
async function addWorktree(
  git: Git,
  request: GitRequest,
  { path, commit }: { path: string; commit: string },
): Promise<void> {
  const args = ["worktree", "add", "--quiet", "--detach", "--no-checkout", path, commit];
  for (let attempt = 1; ; attempt++) {
    const { exitCode, stderr } = await git.try(args, request);
    if (exitCode === 0) return;
    if (attempt === ATTEMPTS) throw new ToolError(`git worktree failed: ${stderr.trim()}`);
    await sleep(RETRY_MS * attempt);
  }
}

/**
 * Shares the blocks of the caller's files where possible. Copied file times let git recognise
 * files, so that it does not rewrite them.
 *
 * @returns the git options for that
 */
async function cloneTree(
  git: Git,
  { root, location }: Repository,
  source: Omit<WorktreeSource, "register"> & Pick<Worktree, "adminDir">,
): Promise<string[]> {
  const { path, commit, indexFile, adminDir, signal } = source;
  const args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit];
  const files = (await git.run(args, { cwd: path, location, signal })).split("\0").filter(Boolean);
  const { environment } = git;
  if (!(await cloneFiles({ from: root, to: path, files, environment, signal }))) return [];
  await copyIndexFile(indexFile, join(adminDir, "index"));
  return ["-c", "core.checkStat=minimal", "-c", "core.trustctime=false"];
}

/** Unregisters a worktree; others are not touched. */
export async function forgetWorktree({ adminDir }: Worktree): Promise<void> {
  if (basename(dirname(adminDir)) === "worktrees") {
    await rm(adminDir, { recursive: true, force: true, maxRetries: 3 });
    // Remove the folder if it is empty, as git does; a concurrent registration retries.
    await rmdir(dirname(adminDir)).catch(() => undefined);
  }
}
