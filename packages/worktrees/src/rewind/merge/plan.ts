import { foldersAbove } from "../../git/file-names.ts";
import { type FileState, isLeftOut, isSame } from "../files/file-state.ts";
import type { SnapshotChanges } from "../store/changes.ts";
import { type MergeContents, mergeState } from "./merge-state.ts";

export interface Plan {
  /** Only paths that will change; undefined for files that will be removed. */
  readonly targets: ReadonlyMap<string, FileState | undefined>;
  /** Paths that are left alone, and why. */
  readonly conflicts: ReadonlyMap<string, string>;
}

export interface PlanRequest {
  readonly current: ReadonlyMap<string, FileState>;
  /** The paths that the snapshot of the current files left out. */
  readonly notCovered: readonly string[];
  /** The changes to take back, the newest first. */
  readonly steps: readonly SnapshotChanges[];
  readonly mergeContents: MergeContents;
  /** Why a path is never written; undefined for most paths. */
  readonly refusalOf: (path: string) => string | undefined;
}

/** Computes the state of the files after changes are taken back; changes nothing. */
export async function planTakeBack(request: PlanRequest): Promise<Plan> {
  const { current, steps, mergeContents } = request;
  const targets = new Map<string, FileState | undefined>();
  const conflicts = new Map<string, string>();
  // Empty folders are kept where possible; if one cannot be kept, that is not worth a conflict.
  const skipped = new Set<string>();
  const always = new Set(request.notCovered);
  for (const { changes, notCovered } of steps) {
    const leftOut = new Set(notCovered);
    for (const { path, before, after } of changes) {
      if (isLeftOut(path, leftOut) || isLeftOut(path, always)) continue;
      if (conflicts.has(path) || skipped.has(path)) continue;
      const ours = targets.has(path) ? targets.get(path) : current.get(path);
      const merged = await mergeState({ base: after, ours, theirs: before }, mergeContents);
      if ("state" in merged) targets.set(path, merged.state);
      else if ([before, after, ours].every(isFolderOrNothing)) skipped.add(path);
      else conflicts.set(path, merged.conflict);
    }
  }
  // A file in conflict is left alone, even if other changes to it could be taken back.
  for (const path of [...conflicts.keys(), ...skipped]) targets.delete(path);
  for (const [path, reason] of conflicts) {
    conflicts.set(path, obstacleAbove(path, current, targets) ?? reason);
  }
  findObstacles(current, targets, conflicts);
  for (const [path, state] of targets) {
    const isDone = isSame(state, current.get(path));
    const refusal = isDone ? undefined : request.refusalOf(path);
    if (isDone || refusal !== undefined) targets.delete(path);
    if (refusal !== undefined) conflicts.set(path, refusal);
  }
  return { targets, conflicts };
}

function isFolderOrNothing(state: FileState | undefined): boolean {
  return state === undefined || state.kind === "folder";
}

/** Finds paths that cannot reach their target because of other paths that stay. */
function findObstacles(
  current: ReadonlyMap<string, FileState>,
  targets: Map<string, FileState | undefined>,
  conflicts: Map<string, string>,
): void {
  const inFolder = filesByFolder(current);
  for (let hasFound = true; hasFound; ) {
    hasFound = false;
    for (const [path, state] of targets) {
      const reason =
        obstacleAbove(path, current, targets) ??
        (state === undefined || state.kind === "folder"
          ? undefined
          : obstacleBelow(path, inFolder, targets));
      if (reason === undefined) continue;
      targets.delete(path);
      if (state?.kind !== "folder") conflicts.set(path, reason);
      hasFound = true;
    }
  }
}

function obstacleAbove(
  path: string,
  current: ReadonlyMap<string, FileState>,
  targets: ReadonlyMap<string, FileState | undefined>,
): string | undefined {
  for (const above of foldersAbove(path)) {
    const now = current.get(above);
    const later = targets.has(above) ? targets.get(above) : now;
    const isGone = later === undefined || later.kind === "folder";
    if (now === undefined || now.kind === "folder" || isGone) continue;
    if (now.kind === "link") return "a folder above it is a symbolic link";
    return "a folder above it is a file now";
  }
  return undefined;
}

function obstacleBelow(
  path: string,
  inFolder: ReadonlyMap<string, readonly string[]>,
  targets: ReadonlyMap<string, FileState | undefined>,
): string | undefined {
  const stays = inFolder
    .get(path)
    ?.some((file) => !targets.has(file) || targets.get(file) !== undefined);
  return stays ? "a folder is in its place" : undefined;
}

function filesByFolder(current: ReadonlyMap<string, FileState>): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of current.keys()) {
    for (const folder of foldersAbove(path)) {
      const known = folders.get(folder);
      if (known === undefined) folders.set(folder, [path]);
      else known.push(path);
    }
  }
  return folders;
}
