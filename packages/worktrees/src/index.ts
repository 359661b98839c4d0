export type {
  CapturedWork,
  Change,
  IsolatedTree,
  KeptCommits,
  KeptFile,
  MergeOutcome,
  PatchPart,
  PatchStatistics,
} from "./isolation/index.ts";
export { Isolation, keepWork, makeBranch, mergeChanges, taskFileNames } from "./isolation/index.ts";
export type { RestoredFiles } from "./rewind/folder-snapshots.ts";
export type {
  RewindOptions,
  RewindRequest,
  RewindSession,
  UserEntry,
} from "./rewind/session-rewind.ts";
export { SessionRewind } from "./rewind/session-rewind.ts";
