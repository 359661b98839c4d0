import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomHex } from "@tau-agent/system";
import type { Git, GitRequest } from "../../git/git.ts";
import { readRefs } from "./own-repository.ts";

/** Branches, tags and stashes that a task made in its repository. */
export interface KeptCommits {
  /** Full names of new or moved refs; HEAD if commits were made without a branch. */
  readonly refs: readonly string[];
  /** A bundle of them for `git fetch`; absent if the caller has all of their commits. */
  readonly path?: string;
  /** Why the bundle could not be written. */
  readonly error?: string;
}

/** Writes the commits that exist only in the tree's repository to a bundle; undefined if there are none. */
export async function keepCommits(
  git: Git,
  tree: {
    request: GitRequest;
    known: ReadonlyMap<string, string>;
    commit: string;
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
  // The caller has all of the commits.
  return names.length === 0 ? undefined : { refs: names };
}
