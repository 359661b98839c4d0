import { join } from "node:path";
import { randomHex } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";
import {
  joinPatches,
  type PatchStatistics,
  sumStatistics,
  writePatch,
} from "../repository/patch.ts";
import type { Repository } from "../repository/repository.ts";
import type { CapturedWork } from "./isolated-tree.ts";

interface WorkPlace {
  readonly git: Git;
  readonly repository: Repository;
  /** The state from which the work started. */
  readonly baseline: { readonly tree: string };
  /** The folder for files that git needs. */
  readonly folder: { readonly path: string };
}

/** The changes of a task in one repository: the caller's, or that of a submodule. */
export interface PatchPart {
  /** Absent for the caller's repository in a workspace on another machine. */
  readonly repository?: Repository | undefined;
  /** The path of the submodule, with a trailing slash; empty for the caller's own repository. */
  readonly prefix: string;
  readonly path: string;
}

export interface KeptWork {
  readonly statistics: PatchStatistics;
  readonly parts: readonly PatchPart[];
  /** Submodules whose changes cannot be merged because the caller has not checked them out. */
  readonly unmerged: readonly string[];
}

/** Writes the work of a task, including submodules, as one patch to `path`, and as parts for merging. */
export async function keepWork(
  { git, repository: callers, baseline, folder }: WorkPlace,
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
