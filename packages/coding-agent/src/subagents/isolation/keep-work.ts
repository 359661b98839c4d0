import { join } from "node:path";
import { randomHex } from "../../base/random.ts";
import type { Isolation } from "./isolation.ts";
import type { PatchPart } from "./merge-back.ts";
import {
  joinPatches,
  type PatchStatistics,
  sumStatistics,
  writePatch,
} from "./repository/patch.ts";
import type { CapturedWork } from "./trees/isolated-tree.ts";

/** A task's work as patches. */
export interface KeptWork {
  readonly statistics: PatchStatistics;
  /** For the way back. */
  readonly parts: readonly PatchPart[];
  /** Submodules with changes that have no way back: the caller has not checked them out. */
  readonly unmerged: readonly string[];
}

/** Writes what a task did to one patch at `path`, submodules included, and in parts for merging. */
export async function keepWork(
  { git, repository: callers, baseline, folder }: Isolation,
  { tree, submodules }: CapturedWork,
  path: string,
): Promise<KeptWork> {
  const states = [
    { repository: callers, isCallers: true, prefix: "", from: baseline.tree, to: tree },
    ...submodules.map((submodule) => ({ ...submodule, prefix: `${submodule.path}/` })),
  ];
  const all: PatchStatistics[] = [];
  const files: string[] = [];
  const parts: PatchPart[] = [];
  const unmerged: string[] = [];
  for (const { repository, isCallers, prefix, from, to } of states) {
    if (from === to) continue;
    const name = join(folder.path, randomHex(6));
    const range = { from, to };
    await writePatch(git, repository, { ...range, path: `${name}.part` });
    const shown = { ...range, path: `${name}.patch`, prefix };
    const statistics = await writePatch(git, repository, shown);
    if (statistics.filesChanged === 0) continue;
    all.push(statistics);
    files.push(shown.path);
    if (isCallers) parts.push({ repository, prefix, path: `${name}.part` });
    else unmerged.push(prefix.slice(0, -1));
  }
  await joinPatches(files, path);
  return { statistics: sumStatistics(all), parts, unmerged };
}
