/**
 * The door of isolation: code outside this folder imports this file only.
 *
 * Each isolated task works in a git worktree that starts from the caller's current files, and its work
 * comes back as a patch. `repository/` records states with git; `merge/` writes patches to the caller's
 * files so that a failure or a kill can be undone; `trees/` makes, records and removes the worktrees.
 * `docs/isolation.md` describes the lifecycle of a tree and what would be lost without each part.
 */
export { removeLeftoverTrees } from "./isolation.ts";
export type { Change, MergeOutcome } from "./merge-back.ts";
export { openIsolation } from "./open-isolation.ts";
export type { PatchStatistics } from "./repository/patch.ts";
export { taskFileNames } from "./task-file-names.ts";
export type { TaskIsolation } from "./task-isolation.ts";
export type { KeptCommits } from "./trees/commits.ts";
export type { CapturedWork, IsolatedTree, KeptFile } from "./trees/isolated-tree.ts";
export type { PatchPart } from "./trees/keep-work.ts";
