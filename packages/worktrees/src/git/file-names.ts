import type { Stats } from "node:fs";
import { lstat, writeFile } from "node:fs/promises";

/** How many files are examined concurrently. */
const LOOKS = 1000;

// In lists from git each character is one byte; see `Git.names`.

/** The path of a listed file, as bytes. */
function placeOf(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
}

export function shownName(name: string): string {
  return Buffer.from(name, "latin1").toString("utf8");
}

export function writeNames(path: string, names: readonly string[]): Promise<void> {
  return writeFile(path, Buffer.from(names.map((name) => `${name}\0`).join(""), "latin1"));
}

/** The file's stats; undefined if it is missing or unreadable. */
export function lookAt(root: string, name: string): Promise<Stats | undefined> {
  return lstat(placeOf(root, name)).catch(() => undefined);
}

/** The parent folders of a path, the deepest first. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    folders.push(path.slice(0, end));
  }
  return folders;
}

/** The parent folder of a path; empty for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export const isFolder = (name: string): boolean => name.endsWith("/");

/** The names for which `check` resolves to a truthy value, in order. */
export async function filterNames(
  names: readonly string[],
  check: (name: string) => Promise<unknown>,
): Promise<string[]> {
  const kept: string[] = [];
  for (let start = 0; start < names.length; start += LOOKS) {
    const part = names.slice(start, start + LOOKS);
    const answers = await Promise.all(part.map(check));
    kept.push(...part.filter((_, index) => Boolean(answers[index])));
  }
  return kept;
}
