import { readTextIn } from "@tau-agent/system";
import { type Disk, kindOfStat, lookAt } from "./disk.ts";
import { farLayoutOf } from "./far-layout.ts";
import { ancestorsOf } from "./places.ts";

/** The nearest folder with a `.git`, from `cwd` upwards, and the repository that a worktree belongs to. */
export async function findGitRoot(
  disk: Disk,
  cwd: string,
): Promise<{ root: string; mainRoot: string | undefined } | undefined> {
  const { join, resolve } = disk.path;
  const known = disk.isFar ? (await farLayoutOf(disk, cwd)).markers : undefined;
  for (const [index, dir] of ancestorsOf(cwd, disk.path).entries()) {
    const path = join(dir, ".git");
    const kind = kindOfStat(known === undefined ? await lookAt(disk, path) : known[index]);
    if (kind === "directory") return { root: dir, mainRoot: undefined };
    if (kind !== "file") continue;
    const marker = await readTextIn(disk.files, path);
    const text = marker.kind === "text" ? marker.text : "";
    const gitDir = /^gitdir:\s*(.+?)\s*$/m.exec(text)?.[1];
    const main = gitDir && /^(.*)[/\\]\.git[/\\]worktrees[/\\][^/\\]+$/.exec(resolve(dir, gitDir));
    return { root: dir, mainRoot: main?.[1] };
  }
  return undefined;
}

/** A folder and its parents within the repository, nearest first; outside of a repository, only the folder. */
export async function foldersOfRepository(disk: Disk, cwd: string): Promise<string[]> {
  const root = (await findGitRoot(disk, cwd))?.root ?? cwd;
  const upward = ancestorsOf(cwd, disk.path);
  return upward.slice(0, Math.max(1, upward.indexOf(root) + 1));
}
