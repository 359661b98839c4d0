export type {
  CapturedWork,
  Change,
  IsolatedTree,
  KeptCommits,
  KeptFile,
  MergeOutcome,
  PatchPart,
  PatchStatistics,
  TaskIsolation,
} from "./isolation/index.ts";
export { openIsolation, taskFileNames } from "./isolation/index.ts";
export type { RestoredFiles } from "./rewind/folder-snapshots.ts";
export type {
  RewindOptions,
  RewindRequest,
  RewindSession,
  UserEntry,
} from "./rewind/session-rewind.ts";
export { SessionRewind } from "./rewind/session-rewind.ts";
