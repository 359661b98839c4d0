import type { Stats } from "node:fs";
import { attempt, type FolderDoor, isHostPlace } from "@tau-agent/system";

export interface WalkedFile {
  /** Relative to the folder, one character per byte. */
  readonly path: string;
  readonly kind: "file" | "link" | "folder";
  readonly stats: Stats;
}

export interface Walk {
  readonly files: readonly WalkedFile[];
  /** Paths that are not recorded: sockets, devices, and what is closed or unreadable. */
  readonly leftOut: readonly string[];
}

/** How long the walk may block the host's other work, in ms. */
const sliceMs = 8;

/**
 * Lists a folder and everything below it, without following links. Git's own folders are silently
 * skipped, including those of nested repositories.
 */
export async function walk(door: FolderDoor, skipped: ReadonlySet<string>): Promise<Walk> {
  const files: WalkedFile[] = [];
  const leftOut: string[] = [];
  const waiting: { path: string; stats: Stats | undefined }[] = [{ path: "", stats: undefined }];
  let began = performance.now();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (performance.now() - began > sliceMs) {
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
    const { path: folder, stats } = next;
    const inside = attempt(() => door.lookInside(folder));
    if (inside === undefined) {
      // The folder may be gone by now; if it still exists, it cannot be read.
      if (folder === "" || attempt(() => door.look(folder))) leftOut.push(folder);
      continue;
    }
    let count = 0;
    for (const { name, stats: found } of inside) {
      if (isGit(name)) continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      count += 1;
      if (skipped.has(path)) {
        leftOut.push(path);
        continue;
      }
      if (found === undefined) continue;
      if (door.isClosed(path, found)) leftOut.push(path);
      else if (found.isDirectory()) waiting.push({ path, stats: found });
      else if (found.isFile()) files.push({ path, kind: "file", stats: found });
      else if (found.isSymbolicLink()) files.push({ path, kind: "link", stats: found });
      else leftOut.push(path);
    }
    // An empty folder at a protected place is a placeholder of a sandbox.
    const isEmpty = count === 0 && !inside.some(({ name }) => isGit(name)) && !isHostPlace(folder);
    if (isEmpty && stats !== undefined) {
      files.push({ path: folder, kind: "folder", stats });
    }
  }
  return { files, leftOut };
}

const isGit = (name: string) => name.length === 4 && name.toLowerCase() === ".git";
