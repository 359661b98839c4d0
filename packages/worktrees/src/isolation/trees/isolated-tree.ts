import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FolderDoor } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";
import { applyToTree } from "../repository/patch.ts";
import { readOnlyCopy } from "../repository/private-copy.ts";
import type { Repository } from "../repository/repository.ts";
import { restoreTree } from "../repository/restore-tree.ts";
import { type Snapshot, takeSnapshot } from "../repository/snapshot.ts";
import { type KeptCommits, keepCommits } from "./commits.ts";
import type { RepositoryTemplate } from "./own-repository.ts";
import { patchRefusal } from "./patch-refusal.ts";
import { captureSubmodules, type Submodule, type SubmoduleWork } from "./submodules.ts";
import type { Worktree } from "./worktree.ts";

/** The recorded work of a task, as objects in the caller's repositories. */
export interface CapturedWork {
  readonly tree: string;
  readonly submodules: readonly SubmoduleWork[];
  /** Paths that could not be recorded: too large, or unreadable. */
  readonly leftOut: readonly string[];
}

export interface KeptFile {
  /** Relative to the top of the tree. */
  readonly path: string;
  /** Its new location; absent if it could not be moved. */
  readonly keptAt?: string;
}

/** The tree in which one subagent works. */
export interface IsolatedTree {
  /** The folder in the tree that corresponds to the caller's folder. */
  readonly cwd: string;
  /**
   * Applies the changes of a kept patch to the tree.
   *
   * @throws {ToolError} they do not apply to the caller's current files
   */
  apply(patch: string): Promise<void>;
  /**
   * Makes its work outlive this host from now on: the next host keeps it in `<name>.patch` (empty if
   * nothing was changed), `<name>-files` and `<name>.bundle`.
   */
  secure(name: string): Promise<void>;
  capture(): Promise<CapturedWork>;
  /** Undoes changes to the files since that capture. */
  restore(work: CapturedWork): Promise<void>;
  /** Moves files that a capture left out to `folder`. */
  keepFiles(work: CapturedWork, folder: string): Promise<KeptFile[]>;
  /** Writes the commits that exist only in this tree to a bundle; undefined if there are none. */
  keepCommits(path: string): Promise<KeptCommits | undefined>;
  remove(): Promise<void>;
}

export interface TreeParts {
  readonly git: Git;
  readonly repository: Repository;
  readonly cwd: string;
  readonly worktree: Worktree;
  readonly gitDir: string;
  readonly template: RepositoryTemplate;
  readonly submodules: readonly Submodule[];
  readonly commit: string;
  /** The tree of the commit from which work starts. */
  readonly baseline: string;
  readonly head: string | undefined;
  /** Whether the caller's tree, and therefore this one, has files hidden from git. */
  readonly hasHidden: boolean;
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  readonly remove: () => Promise<void>;
}

/** Creates the object through which a subagent's tree is used. */
export function createIsolatedTree(parts: TreeParts): Omit<IsolatedTree, "secure"> {
  const { git, cwd, worktree, gitDir, template, folder, commit, head, remove } = parts;
  const { settings } = parts.repository;
  const restore = async (wanted: string): Promise<void> => {
    const { tree: now } = await capture(parts);
    await restoreTree(git, repositoryOf(parts), { wanted, now, folder, signal: parts.signal });
  };
  return {
    cwd,
    remove,
    apply: async (path) => {
      const { tree } = await capture(parts);
      // Applied as objects, so that the attributes in the patch determine the content of the files.
      const patch = { tree, path, folder, signal: parts.signal };
      const applied = await applyToTree(git, repositoryOf(parts), patch);
      if ("conflict" in applied) throw patchRefusal(path, applied.conflict);
      await restore(applied.tree);
    },
    capture: () => capture(parts),
    restore: ({ tree: wanted }) => restore(wanted),
    keepFiles: async ({ leftOut }, target) => {
      const kept: KeptFile[] = [];
      using door = new FolderDoor(worktree.path);
      const isSandboxed = git.environment.sandbox !== undefined;
      for (const path of leftOut) {
        const keptAt = await move(door, path, { from: worktree.path, target, isSandboxed });
        kept.push({ path, ...(keptAt !== undefined && { keptAt }) });
      }
      return kept;
    },
    keepCommits: async (path) => {
      const options = { folder, workTree: worktree.path, settings };
      const location = await readOnlyCopy(git, { gitDir, commonDir: gitDir }, options);
      return keepCommits(git, {
        request: { cwd, location },
        known: template.refs,
        commit,
        head,
        path,
        folder,
      });
    },
  };
}

/**
 * Reads the tree's work whatever a subagent does to the tree's own repository; nothing else of that
 * repository has an effect.
 */
function repositoryOf({ repository, worktree: { path: root, adminDir } }: TreeParts): Repository {
  const location = { ...repository.location, workTree: root };
  return { ...repository, root, prefix: "", gitDir: adminDir, location };
}

async function capture(parts: TreeParts): Promise<CapturedWork> {
  const { git, gitDir, folder, signal, submodules } = parts;
  const repository = repositoryOf(parts);
  const { root: workTree, location } = repository;
  const added = { cwd: workTree, location, indexFile: join(gitDir, "index"), signal };
  const args = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
  const ignored = await git.names(args, added).catch(() => []);
  const { hasHidden } = parts;
  const options = { folder, signal, takesRepositories: true, ignored, hasHidden };
  const taken = await takeSnapshot(git, repository, options);
  const inside = { tree: workTree, callers: repository, folder, signal };
  const { changed, unreadable } = await captureSubmodules(git, submodules, inside);
  const tree = await withoutPrivateCommits(git, { cwd: workTree, location }, taken, changed);
  return { tree, submodules: changed, leftOut: [...taken.leftOut, ...unreadable] };
}

/** Ensures that no submodule points to a commit that is removed with the tree. */
async function withoutPrivateCommits(
  git: Git,
  request: Parameters<Git["run"]>[1],
  { tree, indexFile }: Snapshot,
  submodules: readonly SubmoduleWork[],
): Promise<string> {
  const changed = submodules.filter(({ isCommitPrivate }) => isCommitPrivate);
  if (changed.length === 0) return tree;
  const entries = changed.flatMap(({ path, commit }) => [
    "--cacheinfo",
    `160000,${commit},${path}`,
  ]);
  await git.run(["update-index", ...entries], { ...request, indexFile });
  return (await git.run(["write-tree"], { ...request, indexFile })).trim();
}

async function move(
  door: FolderDoor,
  path: string,
  { from, target, isSandboxed }: { from: string; target: string; isSandboxed: boolean },
): Promise<string | undefined> {
  const place = join(target, path);
  try {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    try {
      door.moveOut(Buffer.from(path.replace(/\/$/, "")).toString("latin1"), place);
    } catch (error) {
      // A file that a command can swap during the copy is left in place.
      if (isSandboxed) throw error;
      await cp(join(from, path), place, { recursive: true });
    }
    return place;
  } catch {
    return undefined;
  }
}
