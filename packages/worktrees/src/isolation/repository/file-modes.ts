import { FolderDoor } from "@tau-agent/system";
import { lookAt } from "../../git/file-names.ts";
import type { Git } from "../../git/git.ts";
import { listChanges } from "../../git/lists.ts";
import { patchOptions } from "./patch.ts";
import type { Repository } from "./repository.ts";

export interface FileMode {
  /** One character per byte. */
  readonly name: string;
  readonly mode: number;
}

/**
 * Records the permissions of files that a patch will replace. git only stores whether a file is
 * executable, so a private file would become readable to everyone.
 */
export async function readFileModes(
  git: Git,
  { root: cwd, location }: Repository,
  range: { from: string; to: string },
): Promise<FileMode[]> {
  const args = ["diff", ...patchOptions, "--raw", "-z", range.from, range.to];
  const modes: FileMode[] = [];
  for (const change of await listChanges(git, args, { cwd, location })) {
    const { oldMode, newMode, oldPath, path: name } = change;
    if (!oldMode.startsWith("100") || !newMode.startsWith("100")) continue;
    const found = await lookAt(cwd, oldPath);
    if (!found?.isFile()) continue;
    const mode = found.mode & 0o777;
    modes.push({ name, mode: oldMode === newMode ? mode : runnable(mode, newMode === "100755") });
  }
  return modes;
}

/** Restores the permissions of replaced files; skips files that no longer exist. */
export async function restoreFileModes(root: string, modes: readonly FileMode[]): Promise<void> {
  using door = new FolderDoor(root);
  for (const { name, mode } of modes) {
    try {
      const found = door.look(name);
      if (found?.isFile() && (found.mode & 0o777) !== mode) door.setMode(name, mode);
    } catch {
      // The file belongs to another user, or is no longer in place.
    }
  }
}

/** If a file is executable, everyone who may read it may also execute it. */
function runnable(mode: number, isRunnable: boolean): number {
  return isRunnable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}
