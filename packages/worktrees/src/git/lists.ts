import { isFolder } from "./file-names.ts";
import type { Git, GitRequest } from "./git.ts";

/** How a file differs between two trees. Modes and ids are zeros where it is missing. */
export interface RawChange {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: string;
  readonly newId: string;
  /** The path before a renaming. */
  readonly oldPath: string;
  readonly path: string;
}

/** The changes that `git diff` or `git diff-tree` lists with `--raw -z`; each character of a path is one byte. */
export async function listChanges(
  git: Git,
  args: readonly string[],
  request: GitRequest,
): Promise<RawChange[]> {
  return parseRawChanges(await git.names([...args, "--"], request));
}

/** Reads such a list after splitting it at NUL bytes. */
export function parseRawChanges(listed: readonly string[]): RawChange[] {
  const parts = listed.values();
  const changes: RawChange[] = [];
  for (const head of parts) {
    const [oldMode = "", newMode = "", oldId = "", newId = "", status = ""] = head
      .slice(1)
      .split(" ");
    const oldPath = parts.next().value ?? "";
    const path = /^[RC]/.test(status) ? (parts.next().value ?? "") : oldPath;
    changes.push({ oldMode, newMode, oldId, newId, oldPath, path });
  }
  return changes;
}

/** Folders that git ignores as a whole, without the folders inside them. */
export async function listIgnoredFolders(git: Git, request: GitRequest): Promise<string[]> {
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const names = await git.names(args, request);
  return names.filter(isFolder).map((name) => name.slice(0, -1));
}
