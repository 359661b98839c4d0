import type { Stats } from "node:fs";
import { lstat, writeFile } from "node:fs/promises";

/** Files that are looked at before the next are. */
const LOOKS = 1000;

// In lists from git a character stands for a byte, see `Git.names`.

/** Where a listed file stands, as the system takes it. */
export function placeOf(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
}

/** A listed name for people. */
export function shownName(name: string): string {
  return Buffer.from(name, "latin1").toString("utf8");
}

/** Writes names to a file that git reads. */
export function writeNames(path: string, names: readonly string[]): Promise<void> {
  return writeFile(path, Buffer.from(names.map((name) => `${name}\0`).join(""), "latin1"));
}

/** What is there; undefined if there is nothing, or nothing readable. */
export function lookAt(root: string, name: string): Promise<Stats | undefined> {
  return lstat(placeOf(root, name)).catch(() => undefined);
}

/** Whether a listed name is that of a folder. */
export const isFolder = (name: string): boolean => name.endsWith("/");

/** The names for which `check` is fulfilled with something, in their order. */
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
