import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** The path without links, as far as it exists. */
export function realPath(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    const folder = dirname(full);
    return folder === full ? full : join(realPath(folder), basename(full));
  }
}
