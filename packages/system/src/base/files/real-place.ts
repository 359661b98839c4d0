import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "../attempt.ts";

/** More links than this in a row count as a loop. */
const MAX_LINKS = 40;

/**
 * A path with all links resolved. For a path that does not exist yet, the place where it would be created: below
 * the real folder, or at the target of a dangling link. Synchronous, so that nothing changes between two lookups.
 */
export function realPlaceOf(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || links > MAX_LINKS) return path;
    const target = linkTarget(path);
    if (target !== undefined) return realPlaceOf(resolve(parent, target), links + 1);
    return join(realPlaceOf(parent, links), basename(path));
  }
}

function linkTarget(path: string): string | undefined {
  return attempt(() => (lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined));
}
