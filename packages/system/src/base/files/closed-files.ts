import { type BigIntStats, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { attempt } from "../attempt.ts";
import { isInside } from "./isolated-tree.ts";

/** Files and folders whose content must not be in any copy of a folder: keys, and paths that a sandbox closes. */
export class ClosedFiles {
  readonly #paths = new Set<string>();
  readonly #files = new Set<string>();
  #isAll = false;

  /**
   * @param root the folder that is copied, a real path
   * @param closed real paths
   */
  constructor(root: string, closed: readonly string[]) {
    for (const path of closed) {
      if (isInside(path, root)) this.#isAll = true;
      if (isInside(root, path)) {
        this.#paths.add(Buffer.from(relative(resolve(root), path)).toString("latin1"));
      }
      const found = attempt(() => statSync(path, { bigint: true }));
      if (found?.isFile()) this.#files.add(identityOf(found));
    }
  }

  /** Whether a path is closed or below a closed folder. Relative to the root, one character per byte. */
  hasPath(path: string): boolean {
    if (this.#isAll) return true;
    if (this.#paths.size === 0) return false;
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (this.#paths.has(path.slice(0, end))) return true;
    }
    return false;
  }

  hasFile(found: BigIntStats): boolean {
    return this.#files.size > 0 && this.#files.has(identityOf(found));
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
