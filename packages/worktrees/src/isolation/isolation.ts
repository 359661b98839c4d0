import { mkdir, realpath, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { Slots } from "@tau-agent/rpc-protocol/workspace";
import {
  isInside,
  isolatedTreePath,
  makeFolder,
  type ToolEnvironment,
  unlessAborted,
} from "@tau-agent/system";
import { Git } from "../git/git.ts";
import { listEmptyFolders } from "./repository/empty-folders.ts";
import { removeFolder } from "./repository/remove-folder.ts";
import { commitTree, headOf, openRepository, type Repository } from "./repository/repository.ts";
import { type Snapshot, takeSnapshot } from "./repository/snapshot.ts";
import { takeHostFiles } from "./trees/host-files.ts";
import { createIsolatedTree, type IsolatedTree, type TreeParts } from "./trees/isolated-tree.ts";
import { notePath, noteTree } from "./trees/left-work.ts";
import {
  giveOwnRepository,
  makeTemplate,
  type RepositoryTemplate,
} from "./trees/own-repository.ts";
import { RunFolder, removeLeftovers } from "./trees/run-folder.ts";
import { addModules, listSubmodules, type Submodule } from "./trees/submodules.ts";
import { createWorktree, forgetWorktree, type Worktree } from "./trees/worktree.ts";

/** How long an aborted call waits for the removal of its trees, which then continues in the background. */
const MAX_WAIT_MS = 2000;

export interface IsolationOptions {
  readonly environment: ToolEnvironment;
  /** The folder in which all hosts keep their worktrees. */
  readonly worktreesRoot: string;
  /** Whether the configuration of the caller's repository may start programs, such as filters. */
  readonly isProjectTrusted: boolean;
  /** The most bytes to copy outside of a repository. */
  readonly maxCopyBytes: number;
  readonly signal?: AbortSignal | undefined;
}

interface Baseline extends Snapshot {
  readonly commit: string;
  readonly head: string | undefined;
  /** Empty folders, which a git tree cannot hold. */
  readonly emptyFolders: readonly string[];
}

interface SharedParts {
  readonly template: RepositoryTemplate;
  readonly submodules: readonly Submodule[];
}

/**
 * Trees for the tasks of one call. All start from the caller's working state when the call began.
 * Making them changes none of the caller's files.
 */
export class Isolation {
  readonly git: Git;
  readonly repository: Repository;
  readonly folder: RunFolder;
  readonly baseline: Baseline;
  readonly #signal: AbortSignal | undefined;
  readonly #isTrusted: boolean;
  readonly #trees = new Set<Worktree>();
  #shared: Promise<SharedParts> | undefined;
  #count = 0;
  /** Limits how many trees are written at the same time, so that the first ones are ready sooner. */
  readonly #writing = new Slots(Math.max(2, availableParallelism()));
  readonly #registering = new Slots(1);

  private constructor(
    parts: Pick<Isolation, "git" | "repository" | "folder" | "baseline">,
    options: { isTrusted: boolean; signal: AbortSignal | undefined },
  ) {
    this.git = parts.git;
    this.repository = parts.repository;
    this.folder = parts.folder;
    this.baseline = parts.baseline;
    this.#signal = options.signal;
    this.#isTrusted = options.isTrusted;
  }

  /**
   * Records the caller's working state. Also removes what killed hosts left behind.
   *
   * @throws {ToolError} no git, a repository that cannot be used, a folder that is too large, aborted
   */
  static async open(options: IsolationOptions): Promise<Isolation> {
    const { environment, worktreesRoot, maxCopyBytes, signal } = options;
    const git = new Git(environment);
    const aborted = () => new ToolError("The work was aborted before it began.");
    const removed = removeLeftovers(worktreesRoot, git);
    await (signal === undefined ? removed : unlessAborted(removed, signal, aborted));
    await makeFolder(worktreesRoot, 0o700);
    // git shows real paths, so that links must not make one folder look like two.
    const folder = await RunFolder.create(await realpath(worktreesRoot));
    try {
      const cwd = await realpath(environment.cwd);
      // A subagent may have written the configuration of the tree in which it works.
      const isTrusted = options.isProjectTrusted && !isInside(dirname(folder.path), cwd);
      const place = { folder: folder.path, isTrusted, signal };
      const repository = await openRepository(git, cwd, { ...place, maxCopyBytes });
      await folder.noteRepository(repository.commonDir);
      const takesRepositories = repository.isPrivate;
      const snapshot = await takeSnapshot(git, repository, { ...place, takesRepositories });
      const head = await headOf(git, repository);
      const message = "Working state at the start of a task";
      const state = { tree: snapshot.tree, parent: head, message };
      const commit = await commitTree(git, repository, state);
      // Nobody expects empty folders in a repository, because git does not create them.
      const emptyFolders = takesRepositories ? await listEmptyFolders(git, repository, signal) : [];
      const baseline = { ...snapshot, commit, head, emptyFolders };
      return new Isolation({ git, repository, folder, baseline }, { isTrusted, signal });
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  /**
   * Makes a tree for one task.
   *
   * @throws {ToolError} git cannot make it
   */
  async createTree(): Promise<IsolatedTree> {
    this.#count += 1;
    const { git, repository, folder } = this;
    const path = isolatedTreePath(folder.path, this.#count);
    const { tree: baseline, commit, head, hasHidden, indexFile, emptyFolders } = this.baseline;
    const register = (work: () => Promise<void>) => this.#registering.run(work);
    const options = { path, commit, indexFile, signal: this.#signal, register };
    this.#shared ??= this.#prepare();
    const shared = await this.#shared;
    const { worktree, gitDir } = await this.#writing.run(async () => {
      const made = await createWorktree(git, repository, options);
      return { worktree: made, gitDir: await giveOwnRepository(shared.template, made, commit) };
    });
    this.#trees.add(worktree);
    takeHostFiles(repository.root, path, git.environment.sandbox?.hostPlaces ?? []);
    const cwd = join(path, repository.prefix);
    // If git ignores everything in the caller's folder, the worktree lacks that folder.
    await mkdir(cwd, { recursive: true });
    for (const name of emptyFolders) await mkdir(join(path, name), { recursive: true });
    const parts: TreeParts = {
      git,
      repository,
      cwd,
      worktree,
      gitDir,
      ...shared,
      commit,
      baseline,
      head,
      hasHidden,
      folder: folder.path,
      signal: this.#signal,
      remove: () => this.#remove(worktree),
    };
    return { ...createIsolatedTree(parts), secure: (name) => noteTree(parts, name) };
  }

  async #prepare(): Promise<SharedParts> {
    const { git, repository, folder, baseline } = this;
    const template = await makeTemplate(git, repository, join(folder.path, "template"));
    const options = { folder: folder.path, isTrusted: this.#isTrusted, signal: this.#signal };
    const submodules = await listSubmodules(git, repository, { tree: baseline.tree, ...options });
    await addModules(git, repository, { template: template.path, submodules });
    return { template, submodules };
  }

  async dispose(): Promise<void> {
    this.#trees.clear();
    await this.folder.remove(this.#signal?.aborted ? MAX_WAIT_MS : undefined);
  }

  async #remove(worktree: Worktree): Promise<void> {
    if (!this.#trees.delete(worktree)) return;
    // Removed first, because a half-removed tree must not be kept.
    await rm(notePath(worktree), { force: true });
    await forgetWorktree(worktree);
    // After an abort, `dispose` removes all trees together with the call's folder.
    if (this.#signal?.aborted) return;
    await Promise.all([worktree.path, `${worktree.path}.git`].map((path) => removeFolder(path)));
  }
}

/** Removes the trees that killed hosts left behind; those of living hosts stay. */
export async function removeLeftoverTrees(
  worktreesRoot: string,
  environment: ToolEnvironment,
): Promise<void> {
  await removeLeftovers(worktreesRoot, new Git(environment));
}
