import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { FolderDoor } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";
import { patchOptions } from "./patch.ts";
import type { Repository } from "./repository.ts";

/** The permissions of a file after a patch has replaced it. */
export interface FileMode {
  readonly path: string;
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
  const args = ["diff", ...patchOptions, "--raw", "-z", range.from, range.to, "--"];
  const parts = (await git.run(args, { cwd, location })).split("\0").values();
  const modes: FileMode[] = [];
  for (const head of parts) {
    const [before = "", after = "", , , status = ""] = head.split(" ");
    if (status === "") continue;
    const old = String(parts.next().value ?? "");
    const path = /^[RC]/.test(status) ? String(parts.next().value ?? "") : old;
    if (!before.startsWith(":100") || !after.startsWith("100")) continue;
    const found = await lstat(join(cwd, old)).catch(() => undefined);
    if (!found?.isFile()) continue;
    const mode = found.mode & 0o777;
    const isSame = before.slice(1) === after;
    modes.push({ path, mode: isSame ? mode : runnable(mode, after === "100755") });
  }
  return modes;
}

/** Restores the permissions of replaced files; skips files that no longer exist. */
export async function restoreFileModes(root: string, modes: readonly FileMode[]): Promise<void> {
  using door = new FolderDoor(root);
  for (const { path, mode } of modes) {
    const name = Buffer.from(path).toString("latin1");
    try {
      const found = door.look(name);
      if (found?.isFile() && (found.mode & 0o777) !== mode) door.setMode(name, mode);
    } catch {
      // It is somebody else's, or not where it was.
    }
  }
}

/** If a file is executable, everyone who may read it may execute it. */
function runnable(mode: number, isRunnable: boolean): number {
  return isRunnable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}
