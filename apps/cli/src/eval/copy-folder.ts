import { lstat, readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Workspace } from "@tau-agent/coding-agent/workspace";

/** The history may contain what the agent must not see. */
const leftOut = ".git";

/**
 * Copies a folder of this machine into a workspace: folders, and files with their modes. Rejects links:
 * through a link that points outside, a run could change the original.
 *
 * @throws {Error} with the path of the link
 */
export async function copyFolder(from: string, workspace: Workspace, to: string): Promise<void> {
  await workspace.createDirectory(to);
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const names = path.slice(from.length + 1).split(sep);
    if (names.includes(leftOut)) continue;
    const target = [to, ...names].join("/");
    const found = await lstat(path);
    if (found.isDirectory()) await workspace.createDirectory(target);
    else if (found.isFile()) {
      await workspace.write(target, await readFile(path), { mode: found.mode & 0o777 });
    } else
      throw new Error(`${path} is neither a file nor a folder, so a run cannot have a copy of it`);
  }
}
