import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomHex } from "../../../base/random.ts";
import type { Git, GitRequest } from "../repository/git.ts";
import { readRefs } from "./own-repository.ts";

/** Branches, tags and stashes that a task made in its own repository. */
export interface KeptCommits {
  /** The full names of what is new or moved; HEAD when commits were made on no branch. */
  readonly refs: readonly string[];
  /** A bundle of them for `git fetch`; absent when they point to commits the caller has. */
  readonly path?: string;
  /** Why there is no bundle of commits that the caller has not. */
  readonly error?: string;
}

/**
 * Writes to a bundle what a tree's repository has and the caller's has not; undefined when there is
 * nothing.
 */
export async function keepCommits(
  git: Git,
  tree: {
    request: GitRequest;
    /** The caller's refs. */
    known: ReadonlyMap<string, string>;
    /** The commit the tree began with. */
    commit: string;
    /** The caller's commit. */
    head: string | undefined;
    path: string;
    folder: string;
  },
): Promise<KeptCommits | undefined> {
  const { request, known, path, commit, head } = tree;
  const now = await readRefs(git, request);
  const names = now
    .filter(({ name, id, target }) => target === "" && known.get(name) !== id)
    .map(({ name }) => name);
  const current = await git.try(["rev-parse", "--verify", "--quiet", "HEAD"], request);
  const hasMoved = current.exitCode === 0 && current.stdout.trim() !== commit;
  const refs = [...(hasMoved ? ["HEAD"] : []), ...names];
  if (refs.length === 0) return undefined;
  const callers = new Set([...known.values(), ...(head === undefined ? [] : [head])]);
  const inputFile = join(tree.folder, `${randomHex(6)}.revisions`);
  await writeFile(inputFile, [...refs, ...[...callers].map((id) => `^${id}`), ""].join("\n"));
  const args = ["bundle", "create", "--quiet", path, "--stdin"];
  const { exitCode, stderr } = await git.try(args, { ...request, inputFile });
  if (exitCode === 0) return { refs, path };
  if (!stderr.includes("empty bundle")) return { refs, error: stderr.trim() };
  // There is nothing in it that the caller has not.
  return names.length === 0 ? undefined : { refs: names };
}
