import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The real path of what a path leads to, or will lead to. Synchronous: nothing comes between two looks. */
export function realPlaceOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPlaceOf(parent), basename(path));
  }
}
