import { isAbsolute, join, relative, sep } from "node:path";

/** Where the `count`th tree of a call stands: below the folder of the call and named after it. */
export function isolatedTreePath(runFolder: string, count: number): string {
  return join(runFolder, `${runFolder.slice(-8)}-${count}`);
}

/** The isolated tree that a folder is in, if it is in one. Both are real paths. */
export function isolatedTreeOf(folder: string, worktreesRoot: string): string | undefined {
  if (!isInside(worktreesRoot, folder)) return undefined;
  const [run = "", tree = ""] = relative(worktreesRoot, folder).split(sep);
  const isTree = /^[0-9a-f]{8}$/.test(run) && /^-\d+$/.test(tree.slice(8)) && tree.startsWith(run);
  return isTree ? join(worktreesRoot, run, tree) : undefined;
}

/** Whether a path is in a folder, or is the folder. Both are real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!isAbsolute(way) && way.split(sep)[0] !== "..");
}
