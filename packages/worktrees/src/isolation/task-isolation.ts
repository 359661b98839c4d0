import type { Change, MergeOutcome } from "./merge-back.ts";
import type { CapturedWork, IsolatedTree } from "./trees/isolated-tree.ts";
import type { KeptWork } from "./trees/keep-work.ts";

/** The trees for the tasks of one call, and the ways to bring their work back to the caller's files. */
export interface TaskIsolation {
  /** Untracked paths of the caller that are too large to copy. */
  readonly leftOut: readonly string[];
  /** @throws {ToolError} git cannot make it */
  createTree(): Promise<IsolatedTree>;
  /** Writes the work of a task as one patch to a file of the host; returns what is needed to merge it. */
  keepWork(work: CapturedWork, path: string): Promise<KeptWork>;
  /** Writes the patch of a secured tree that a killed host has left, if any. */
  keepLeft(patch: string): Promise<void>;
  /** Merges changes into the caller's files, in the given order, each three-way on top of the previous ones. */
  mergeChanges(
    changes: readonly Change[],
    signal?: AbortSignal,
  ): Promise<Map<string, MergeOutcome>>;
  /** Keeps a change as a branch. */
  makeBranch(change: Change): Promise<MergeOutcome>;
  dispose(): Promise<void>;
}
