import { isAbsolute, join, relative, sep } from "node:path";

/** The path of the `count`th tree of a call: below the call's folder and named after it. */
export function isolatedTreePath(runFolder: string, count: number): string {
  return join(runFolder, `${runFolder.slice(-8)}-${count}`);
}

/** The isolated tree that contains a folder, if any. Both are real paths. */
export function isolatedTreeOf(folder: string, worktreesRoot: string): string | undefined {
  if (!isInside(worktreesRoot, folder)) return undefined;
  const [run = "", tree = ""] = relative(worktreesRoot, folder).split(sep);
  const isTree = /^[0-9a-f]{8}$/.test(run) && /^-\d+$/.test(tree.slice(8)) && tree.startsWith(run);
  return isTree ? join(worktreesRoot, run, tree) : undefined;
}

/** Whether a path is the folder or inside it. Both are real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!isAbsolute(way) && way.split(sep)[0] !== "..");
}
