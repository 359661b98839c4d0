/**
 * The door of isolation: trees in which subagents work without touching the caller's folder, and the
 * ways their work comes back. Code outside this folder imports this file only.
 */
export { Isolation, removeLeftoverTrees } from "./isolation.ts";
export { keepWork } from "./keep-work.ts";
export {
  type Change,
  type MergeOutcome,
  makeBranch,
  mergeChanges,
  type PatchPart,
} from "./merge-back.ts";
export type { PatchStatistics } from "./repository/patch.ts";
export { taskFileNames } from "./task-file-names.ts";
export type { KeptCommits } from "./trees/commits.ts";
export type { CapturedWork, IsolatedTree, KeptFile } from "./trees/isolated-tree.ts";
