import type { FileState } from "./files/file-state.ts";
import type { MergeContents } from "./merge/merge-state.ts";
import type { SnapshotChanges } from "./store/changes.ts";
import type { SnapshotNotes } from "./store/commits.ts";

/** The state of a folder, as a commit in a store. */
export interface KeptState {
  readonly commit: string;
  readonly tree: string;
  readonly notes: SnapshotNotes;
  readonly files: ReadonlyMap<string, FileState>;
}

/** Files to write, with their target states. */
export interface WantedFiles<State extends KeptState> {
  /** The files as they were found. */
  readonly current: State["files"];
  readonly targets: ReadonlyMap<string, FileState | undefined>;
  /** Paths that an earlier attempt removed, perhaps leaving their folders behind. */
  readonly gone?: readonly string[] | undefined;
  /** The temporary name of a new file until it is complete; the same for a repeated attempt. */
  readonly temporaryName: string;
}

/** Snapshots of one folder, stored under our own refs. */
export interface Snapshots<State extends KeptState = KeptState> {
  readonly folder: string;
  /** Whether the folder is in a repository and its snapshots are not. */
  readonly isApart: boolean;
  readonly mergeContents: MergeContents;
  take(message: string, parents?: readonly string[]): Promise<State>;
  keep(name: string, snapshot: State): Promise<void>;
  /** Keeps the newest snapshot, and the known facts about its files. */
  keepLast(snapshot: State): Promise<void>;
  drop(names: readonly string[]): Promise<void>;
  /** Why a path of the folder is never written; undefined for most paths. */
  refusalOf(path: string): string | undefined;
  /** @throws {ToolError} a commit is gone */
  changesBetween(before: string, after: string): Promise<SnapshotChanges>;
  /** Returns the reasons for paths that were left alone. */
  writeFiles(wanted: WantedFiles<State>): Promise<ReadonlyMap<string, string>>;
}
