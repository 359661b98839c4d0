import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withFileLock, writeFileAtomic } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";
import { createIsolatedTree, type TreeParts } from "./isolated-tree.ts";
import { keepWork } from "./keep-work.ts";
import type { Worktree } from "./worktree.ts";

const NOTE = ".left.json";
/** Another host takes at most this long to keep the same work. */
const WAIT_MS = 5 * 60_000;

/** A tree as found by another host. */
interface LeftTree extends Omit<TreeParts, "git" | "signal" | "remove"> {
  /** The path, without extension, of the files in which its work is kept. */
  readonly name: string;
}

export function notePath({ path }: Pick<Worktree, "path">): string {
  return `${path}${NOTE}`;
}

/** Records how to keep the work of a tree if its host is killed. */
export async function noteTree(parts: TreeParts, name: string): Promise<void> {
  const { git: _, signal: __, remove: ___, template, ...rest } = parts;
  const refs = [...template.refs];
  const note = { ...rest, name, template: { ...template, refs } };
  await writeFileAtomic(notePath(parts.worktree), JSON.stringify(note));
}

/**
 * Keeps the work in the trees of a call whose host was killed. git uses the settings from the beginning of
 * the call, which start no programs of an untrusted project.
 *
 * @returns false if some work could not be kept
 */
export async function keepLeftWork(folder: string, git: Git): Promise<boolean> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(NOTE));
  if (names.length === 0) return true;
  const keepAll = async (): Promise<void> => {
    for (const name of names) await keepOne(join(folder, name), git);
  };
  return withFileLock(folder, keepAll, { waitMs: WAIT_MS }).then(
    () => true,
    () => false,
  );
}

async function keepOne(path: string, git: Git): Promise<void> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  // Another host has already kept it.
  if (text === undefined) return;
  const { name, template, ...rest } = JSON.parse(text) as LeftTree;
  const refs = new Map(template.refs);
  const parts = { ...rest, git, template: { ...template, refs }, signal: undefined };
  const tree = createIsolatedTree({ ...parts, remove: async () => {} });
  const work = await tree.capture();
  const patch = `${name}.patch`;
  const { repository, folder } = parts;
  const place = { git, repository, baseline: { tree: parts.baseline }, folder: { path: folder } };
  const { statistics } = await keepWork(place, work, patch);
  // An empty bundle says that nothing is left of earlier work, either.
  if (statistics.filesChanged === 0) await writeFile(patch, "", { mode: 0o600 });
  await tree.keepFiles(work, `${name}-files`);
  await tree.keepCommits(`${name}.bundle`);
  await rm(path);
}
