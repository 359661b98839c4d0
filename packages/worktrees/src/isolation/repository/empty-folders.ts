import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isFolder, shownName } from "../../git/file-names.ts";
import type { Git } from "../../git/git.ts";
import type { Repository } from "./repository.ts";

/** Empty folders, which git does not track; ignored ones are left out. */
export async function listEmptyFolders(
  git: Git,
  { root, location }: Repository,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const ignored = await git.names(args, { cwd: root, location, signal });
  const skipped = new Set(ignored.filter(isFolder).map((name) => shownName(name.slice(0, -1))));
  const empty: string[] = [];
  const waiting = [""];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
      () => undefined,
    );
    if (entries?.length === 0 && folder !== "") empty.push(folder);
    for (const entry of entries ?? []) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && entry.name !== ".git" && !skipped.has(path)) waiting.push(path);
    }
  }
  return empty;
}
