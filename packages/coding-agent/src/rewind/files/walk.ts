import { lstatSync, readdirSync, type Stats } from "node:fs";

/** A file or link of the folder, or a folder without any. */
export interface WalkedFile {
  /** From the folder, one character per byte. */
  readonly path: string;
  readonly kind: "file" | "link" | "folder";
  readonly stats: Stats;
}

/** Everything in a folder. */
export interface Walk {
  readonly files: readonly WalkedFile[];
  /** What cannot be recorded: sockets, devices, what may not be read. */
  readonly leftOut: readonly string[];
}

/** How long the walk may keep the host from other work, in ms. */
const sliceMs = 8;

/**
 * Lists a folder and all below it, without following links. What git keeps about itself is left out
 * without a word, also that of repositories inside.
 */
export async function walk(root: string, skipped: ReadonlySet<string>): Promise<Walk> {
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
    const names = attempt(() => readdirSync(placeIn(root, folder), { encoding: "latin1" }));
    if (names === undefined) {
      // It may be gone by now; one that is there cannot be read.
      if (folder === "" || attempt(() => lstatSync(placeIn(root, folder)))) leftOut.push(folder);
      continue;
    }
    let count = 0;
    for (const name of names) {
      if (name.toLowerCase() === ".git") continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      count += 1;
      if (skipped.has(path)) {
        leftOut.push(path);
        continue;
      }
      const found = attempt(() => lstatSync(placeIn(root, path)));
      if (found === undefined) continue;
      if (found.isDirectory()) waiting.push({ path, stats: found });
      else if (found.isFile()) files.push({ path, kind: "file", stats: found });
      else if (found.isSymbolicLink()) files.push({ path, kind: "link", stats: found });
      else leftOut.push(path);
    }
    if (count === 0 && stats !== undefined && !names.some(isGit)) {
      files.push({ path: folder, kind: "folder", stats });
    }
  }
  return { files, leftOut };
}

/** The path of a name of one character per byte, as bytes for the system. */
export function placeIn(root: string, path: string): Buffer {
  if (path === "") return Buffer.from(root);
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

const isGit = (name: string) => name.toLowerCase() === ".git";

function attempt<Value>(call: () => Value): Value | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
