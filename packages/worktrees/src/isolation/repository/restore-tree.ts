import { join } from "node:path";
import { errorCode, FolderDoor, randomHex } from "@tau-agent/system";
import { writeNames } from "../../git/file-names.ts";
import type { Git } from "../../git/git.ts";
import type { Repository } from "./repository.ts";

/**
 * Writes the files that differ between two states of a working tree as they are in `wanted`. Indexes,
 * ignored files and the files of submodules are not changed.
 */
export async function restoreTree(
  git: Git,
  { root: cwd, location }: Repository,
  {
    wanted,
    now,
    folder,
    signal,
  }: { wanted: string; now: string; folder: string; signal: AbortSignal | undefined },
): Promise<void> {
  if (wanted === now) return;
  const indexFile = join(folder, `${randomHex(6)}.index`);
  const request = { cwd, location, indexFile, signal };
  const compare = ["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all"];
  const differing = (filter: string): Promise<string[]> =>
    git.names([...compare, `--diff-filter=${filter}`, wanted, now, "--"], request);
  const [added, changed] = [await differing("A"), await differing("a")];
  using door = new FolderDoor(cwd);
  for (const name of added) {
    try {
      door.remove(name);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
  if (changed.length === 0) return;
  const inputFile = `${indexFile}.names`;
  await writeNames(inputFile, changed);
  await git.run(["read-tree", wanted], request);
  const writing = { ...request, inputFile, inSandbox: { writable: [cwd] } };
  await git.run(["checkout-index", "--force", "-z", "--stdin"], writing);
}
