import type { WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { type Disk, lookAt } from "./disk.ts";
import { ancestorsOf } from "./places.ts";

/** The folders above a project on a remote disk, nearest first. */
export interface FarLayout {
  readonly dirs: readonly string[];
  readonly folders: readonly (WorkspaceStat | undefined)[];
  /** The state of `.git` in each folder. */
  readonly markers: readonly (WorkspaceStat | undefined)[];
  readonly home: WorkspaceStat | undefined;
}

const kept = new WeakMap<Disk, Map<string, Promise<FarLayout>>>();

/** Queried once and kept until forgotten, because everything that reads a project needs it. */
export function farLayoutOf(disk: Disk, cwd: string): Promise<FarLayout> {
  const known = kept.get(disk) ?? new Map<string, Promise<FarLayout>>();
  kept.set(disk, known);
  const asked = known.get(cwd) ?? lookAround(disk, cwd);
  known.set(cwd, asked);
  asked.catch(() => known.delete(cwd));
  return asked;
}

export function forgetFarLayout(disk: Disk): void {
  kept.delete(disk);
}

async function lookAround(disk: Disk, cwd: string): Promise<FarLayout> {
  const dirs = ancestorsOf(cwd, disk.path);
  const markers = dirs.map((dir) => disk.path.join(dir, ".git"));
  const lookAtAll = (paths: readonly string[]) =>
    Promise.all(paths.map((path) => lookAt(disk, path)));
  const [folders, found, home] = await Promise.all([
    lookAtAll(dirs),
    lookAtAll(markers),
    lookAt(disk, disk.homeDirectory),
  ]);
  return { dirs, folders, markers: found, home };
}
