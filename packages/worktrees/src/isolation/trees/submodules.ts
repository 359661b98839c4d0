import { mkdir, readdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lookAt, shownName } from "../../git/file-names.ts";
import type { Git } from "../../git/git.ts";
import { foldersOf, readOnlyCopy } from "../repository/private-copy.ts";
import { findRepository, type OpenOptions, type Repository } from "../repository/repository.ts";
import { takeSnapshot } from "../repository/snapshot.ts";
import { makeTemplate } from "./own-repository.ts";

/** A submodule of the caller's repository. */
export interface Submodule {
  /** Relative to the top of the caller's repository. */
  readonly path: string;
  /** Its commit when the call began. */
  readonly commit: string;
  /** The repository that records its states; undefined if the caller has not checked it out. */
  readonly repository: Repository | undefined;
}

export interface SubmoduleWork extends Pick<Submodule, "path" | "commit"> {
  /** The repository of both trees; the caller's if there is one. */
  readonly repository: Repository;
  readonly isCallers: boolean;
  readonly from: string;
  readonly to: string;
  /** Whether the submodule's current commit exists only in the task's tree. */
  readonly isCommitPrivate: boolean;
}

interface Place {
  readonly tree: string;
  /** The repository for recorded states if there is no other one. */
  readonly callers: Repository;
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
}

export async function listSubmodules(
  git: Git,
  { root, location }: Repository,
  { tree, ...options }: OpenOptions & { tree: string },
): Promise<Submodule[]> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", tree];
  const found: Submodule[] = [];
  for (const line of await git.names(args, { cwd: root, location })) {
    const [, commit, name] = /^160000 commit (\w+)\t(.*)$/s.exec(line) ?? [];
    if (commit === undefined || name === undefined) continue;
    const path = shownName(name);
    found.push({ path, commit, repository: await repositoryAt(git, join(root, path), options) });
  }
  return found;
}

/** Makes `git submodule update` use the caller's copies of submodules instead of the network. */
export async function addModules(
  git: Git,
  { root: cwd, location }: Repository,
  { template, submodules }: { template: string; submodules: readonly Submodule[] },
): Promise<void> {
  if (!submodules.some(({ repository }) => repository !== undefined)) return;
  const args = ["config", "--file", ".gitmodules", "-z", "--get-regexp", "^submodule\\..*\\.path$"];
  const { stdout } = await git.try(args, { cwd, location });
  for (const entry of stdout.split("\0")) {
    const [, name, path] = /^submodule\.(.*)\.path\n(.*)$/s.exec(entry) ?? [];
    const found = submodules.find((submodule) => submodule.path === path);
    if (name === undefined || found?.repository === undefined || /^\/|\.\./.test(name)) continue;
    const module = join(template, "modules", name);
    await mkdir(module, { recursive: true });
    await makeTemplate(git, found.repository, module);
    await writeFile(join(module, "HEAD"), `${found.commit}\n`);
  }
}

/**
 * Records the contents of the submodules in a task's worktree, if any.
 *
 * @returns the recorded submodules, and the paths of unreadable ones
 */
export async function captureSubmodules(
  git: Git,
  submodules: readonly Submodule[],
  place: Place,
): Promise<{ changed: SubmoduleWork[]; unreadable: string[] }> {
  const changed: SubmoduleWork[] = [];
  const unreadable: string[] = [];
  for (const submodule of submodules) {
    const files = await readdir(join(place.tree, submodule.path)).catch(() => []);
    if (files.length === 0) continue;
    try {
      const work = await captureOne(git, submodule, place);
      if (work.from !== work.to) changed.push(work);
    } catch {
      unreadable.push(submodule.path);
    }
  }
  return { changed, unreadable };
}

async function captureOne(
  git: Git,
  { path, commit, repository: callers }: Submodule,
  place: Place,
): Promise<SubmoduleWork> {
  const { folder, signal } = place;
  const workTree = join(place.tree, path);
  const own = await openOwn(git, workTree, place);
  const head = own && (await idOf(git, own, "HEAD^{commit}"));
  const isKnown = head === commit || (await isPublished(git, { own, callers }, head));
  // Commits of a task come back as file changes, like its other work.
  const base = own === undefined || isKnown ? head : commit;
  const hasBase = base === undefined || (callers && (await idOf(git, callers, `${base}^{tree}`)));
  const isCallers = callers !== undefined && hasBase !== undefined;
  const store = isCallers ? callers : (own ?? place.callers);
  const location = { ...store.location, workTree };
  const repository = { ...store, root: workTree, prefix: "", location };
  const startsEmpty = !isCallers && own === undefined;
  const { tree: to } = await takeSnapshot(git, repository, { folder, signal, startsEmpty });
  // In a submodule that was never checked out, all files count as new.
  const from =
    (base && (await idOf(git, repository, `${base}^{tree}`))) ??
    (await git.run(["mktree"], { cwd: workTree, location })).trim();
  const isCommitPrivate = head !== undefined && !isKnown;
  return {
    path,
    commit,
    repository: isCallers ? callers : repository,
    isCallers,
    from,
    to,
    isCommitPrivate,
  };
}

/** The caller's repository with its top in exactly this folder. */
async function repositoryAt(
  git: Git,
  folder: string,
  options: OpenOptions,
): Promise<Repository | undefined> {
  const top = await realpath(folder).catch(() => undefined);
  // Without a repository of its own, git would find the surrounding one.
  if (top === undefined || !(await lookAt(top, ".git"))) return undefined;
  const found = await findRepository(git, top, options);
  return "root" in found && found.root === top ? found : undefined;
}

/**
 * The repository of a task in a submodule's folder. The task made it, so only its objects and refs
 * are used, and only if it is in the task's tree or beside it.
 */
async function openOwn(
  git: Git,
  workTree: string,
  { callers, folder }: Place,
): Promise<Repository | undefined> {
  const root = await realpath(workTree).catch(() => undefined);
  const found = root === undefined ? undefined : await foldersOf(root, folder);
  if (root === undefined || found === undefined) return undefined;
  const { settings } = callers;
  const location = await readOnlyCopy(git, found, { folder, workTree: root, settings });
  return { ...found, prefix: "", location, settings, isPrivate: true };
}

async function isPublished(
  git: Git,
  { own, callers }: { own: Repository | undefined; callers: Repository | undefined },
  commit: string | undefined,
): Promise<boolean> {
  if (own === undefined || commit === undefined) return false;
  if (callers && (await idOf(git, callers, `${commit}^{commit}`))) return true;
  const { root: cwd, location } = own;
  const args = ["for-each-ref", "--count=1", "--contains", commit, "refs/remotes"];
  const { exitCode, stdout } = await git.try(args, { cwd, location });
  return exitCode === 0 && stdout !== "";
}

async function idOf(
  git: Git,
  { root: cwd, location }: Repository,
  name: string,
): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", name];
  const { exitCode, stdout } = await git.try(args, { cwd, location });
  return exitCode === 0 ? stdout.trim() : undefined;
}
