import { join, relative, sep } from "node:path";
import { isInside, isolatedTreeOf, realPlaceOf } from "@tau-agent/system";

/** An isolated tree, and the user's folder that it is a copy of. Both are real paths. */
export interface IsolatedCopy {
  readonly tree: string;
  readonly folder: string;
}

/**
 * The tree that a session works in, if its folder is a copy of one of the user's.
 *
 * @param standsFor - the user's folder that `cwd` is a copy of
 */
export function isolatedCopyOf(
  cwd: string,
  { standsFor, worktreesRoot }: { readonly standsFor: string; readonly worktreesRoot: string },
): IsolatedCopy {
  return copyThere(realPlaceOf(cwd), {
    standsFor: realPlaceOf(standsFor),
    worktreesRoot: realPlaceOf(worktreesRoot),
  });
}

/** The same for paths that are already real, on any machine. */
export function copyThere(
  own: string,
  { standsFor: folder, worktreesRoot }: Parameters<typeof isolatedCopyOf>[1],
): IsolatedCopy {
  const tree = isolatedTreeOf(own, worktreesRoot) ?? own;
  // The session may have been opened in a subfolder of the repository.
  const below = relative(tree, own);
  if (below === "" || !folder.endsWith(`${sep}${below}`)) return { tree: own, folder };
  return { tree, folder: folder.slice(0, -below.length - 1) };
}

/** Maps a path in the tree to the user's own file; other paths stay the same. */
export function asOwnFile(path: string, copy: IsolatedCopy | undefined): string {
  if (copy === undefined || !isInside(copy.tree, path)) return path;
  return join(copy.folder, relative(copy.tree, path));
}

/** Whether a path is a file of the user's that the tree has a copy of. */
export function isOriginal(path: string, copy: IsolatedCopy | undefined): boolean {
  if (copy === undefined) return false;
  return isInside(copy.folder, path) && !isInside(copy.tree, path);
}
