import { closedPaths, FolderDoor } from "@tau-agent/system";
import { walk } from "../../files/walk.ts";
import { shownName } from "../../git/file-names.ts";
import type { Git } from "../../git/git.ts";
import { listIgnoredFolders } from "../../git/lists.ts";
import type { Repository } from "./repository.ts";

/** Empty folders, which git does not track, except ignored ones. */
export async function listEmptyFolders(
  git: Git,
  { root, location }: Repository,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const ignored = await listIgnoredFolders(git, { cwd: root, location, signal });
  using door = new FolderDoor(root, closedPaths(git.environment));
  const { files } = await walk(door, new Set(ignored));
  return files.flatMap(({ kind, path }) => (kind === "folder" ? [shownName(path)] : []));
}
