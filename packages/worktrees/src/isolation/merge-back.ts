import { join } from "node:path";
import { randomHex } from "@tau-agent/system";
import type { Git, GitRequest } from "../git/git.ts";
import type { Isolation } from "./isolation.ts";
import { applyPatch, listReplacements, type Replacement } from "./merge/apply-patch.ts";
import { holdingMergeLock } from "./merge/merge-lock.ts";
import { type FileMode, readFileModes } from "./repository/file-modes.ts";
import { applyToTree, joinPatches, writePatch } from "./repository/patch.ts";
import { commitTree, headOf, type Repository, withRefs } from "./repository/repository.ts";
import { takeSnapshot } from "./repository/snapshot.ts";
import { slugOf } from "./task-file-names.ts";
import type { PatchPart } from "./trees/keep-work.ts";

export interface Change {
  readonly id: string;
  readonly tree: string;
  readonly parts: readonly PatchPart[];
}

export type MergeOutcome =
  | { readonly status: "applied" }
  | {
      readonly status: "branch";
      readonly branch: string;
      /** Submodules with changes that a branch cannot hold. */
      readonly unmerged?: readonly string[];
    }
  /** The caller's files are unchanged and the patch is kept; with `kept`, merging was not attempted. */
  | { readonly status: "conflict" | "kept"; readonly reason: string };

/** The result of one attempt to merge; without a refusal the files were written. */
export interface MergeAttempt {
  readonly outcomes: Map<string, MergeOutcome>;
  /** Why the files could not be written. */
  readonly refusal?: string;
}

/**
 * Merges changes into the caller's working tree, in the given order, each three-way on top of the
 * previous ones. Merging happens outside the working tree; then all files are written in one step,
 * which git checks first. Other hosts wait meanwhile.
 */
export function mergeChanges(
  isolation: Isolation,
  changes: readonly Change[],
  signal?: AbortSignal,
): Promise<Map<string, MergeOutcome>> {
  const { folder, repository } = isolation;
  return holdingMergeLock({ folder: folder.path, repository, signal }, () =>
    mergeAll(changes, (some) => tryToMerge(isolation, some, signal)),
  );
}

/** Merges all changes or, if they cannot be written, as many as possible. */
export async function mergeAll(
  changes: readonly Change[],
  tryToMerge: (changes: readonly Change[]) => Promise<MergeAttempt>,
): Promise<Map<string, MergeOutcome>> {
  // Tries again in case the caller's files changed meanwhile.
  const first = await tryToMerge(changes);
  if (first.refusal === undefined) return first.outcomes;
  const second = await tryToMerge(changes);
  if (second.refusal === undefined) return second.outcomes;
  // One task's changes cannot be written, so the others are merged without it.
  const outcomes = new Map<string, MergeOutcome>();
  for (const change of changes) {
    const { outcomes: one, refusal } = await tryToMerge([change]);
    for (const [id, outcome] of one) {
      const isRefused = refusal !== undefined && outcome.status === "applied";
      outcomes.set(id, isRefused ? { status: "conflict", reason: refusal } : outcome);
    }
  }
  return outcomes;
}

async function tryToMerge(
  isolation: Isolation,
  changes: readonly Change[],
  signal: AbortSignal | undefined,
): Promise<MergeAttempt> {
  const { git, repository, folder } = isolation;
  const outcomes = new Map<string, MergeOutcome>();
  const place = { folder: folder.path, signal };
  const states = new Map<string, MergeState>();
  for (const { repository: inside, prefix } of changes.flatMap(({ parts }) => parts)) {
    if (inside === undefined || states.has(prefix)) continue;
    const takesRepositories = inside.isPrivate;
    const before = (await takeSnapshot(git, inside, { ...place, takesRepositories })).tree;
    states.set(prefix, { repository: inside, before, tree: before });
  }
  for (const change of changes)
    outcomes.set(change.id, await mergeOne(isolation, change, states, signal));
  const paths: string[] = [];
  const modes: FileMode[] = [];
  const replaced: Replacement[] = [];
  for (const [prefix, { repository: inside, before: from, tree: to }] of states) {
    if (from === to) continue;
    const path = join(folder.path, `${randomHex(6)}.patch`);
    await writePatch(git, inside, { from, to, path, prefix });
    paths.push(path);
    for (const file of await listReplacements(git, inside, { from, to, prefix })) {
      replaced.push(file);
    }
    const inThere = await readFileModes(git, inside, { from, to });
    const below = Buffer.from(prefix).toString("latin1");
    for (const { name, mode } of inThere) modes.push({ name: `${below}${name}`, mode });
  }
  if (paths.length === 0) return { outcomes };
  const whole = join(folder.path, `${randomHex(6)}.patch`);
  await joinPatches(paths, whole);
  signal?.throwIfAborted();
  const write = { folder: folder.path, patch: whole, files: replaced, modes };
  const refusal = await applyPatch(git, repository, write);
  return refusal === undefined ? { outcomes } : { outcomes, refusal };
}

interface MergeState {
  readonly repository: Repository;
  readonly before: string;
  tree: string;
}

/** Merges a change completely or not at all. */
async function mergeOne(
  { git, folder }: Isolation,
  { parts }: Change,
  states: Map<string, MergeState>,
  signal: AbortSignal | undefined,
): Promise<MergeOutcome> {
  const trees: [MergeState, string][] = [];
  for (const { prefix, path } of parts) {
    const state = states.get(prefix);
    if (state === undefined) continue;
    const patch = { tree: state.tree, path, folder: folder.path, signal };
    const applied = await applyToTree(git, state.repository, patch);
    if ("conflict" in applied) return { status: "conflict", reason: applied.conflict };
    trees.push([state, applied.tree]);
  }
  for (const [state, tree] of trees) state.tree = tree;
  return { status: "applied" };
}

/** Keeps a change as a branch on the caller's commit or, if it does not apply there, on the caller's working state. */
export async function makeBranch(isolation: Isolation, change: Change): Promise<MergeOutcome> {
  const { git, repository, baseline, folder } = isolation;
  const { root: cwd } = repository;
  const location = withRefs(repository);
  if (repository.isPrivate) {
    return { status: "conflict", reason: "There is no git repository for a branch." };
  }
  const head = await headOf(git, repository);
  const path = change.parts.find(({ prefix }) => prefix === "")?.path;
  if (path === undefined) {
    return { status: "conflict", reason: "A branch cannot hold changes in submodules." };
  }
  const onHead =
    head === undefined
      ? undefined
      : await applyToTree(git, repository, { tree: head, path, folder: folder.path });
  const commit =
    onHead !== undefined && "tree" in onHead
      ? { tree: onHead.tree, parent: head }
      : { tree: change.tree, parent: baseline.commit };
  const made = await commitTree(git, repository, { ...commit, message: `Task ${change.id}` });
  const wanted = `tau/${slugOf(change.id)}-${folder.path.slice(-8)}`;
  const branch = await freeBranch(git, { cwd, location }, wanted);
  await git.run(["branch", "--no-track", branch, made], { cwd, location });
  const inside = change.parts.filter(({ prefix }) => prefix !== "");
  const unmerged = inside.map(({ prefix }) => prefix.slice(0, -1));
  return { status: "branch", branch, ...(unmerged.length > 0 && { unmerged }) };
}

/** Finds an unused name: ids that differ only in punctuation lead to the same name. */
async function freeBranch(git: Git, request: GitRequest, wanted: string): Promise<string> {
  let branch = wanted;
  for (let count = 2; ; count++) {
    const args = ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`];
    if ((await git.try(args, request)).exitCode !== 0) return branch;
    branch = `${wanted}-${count}`;
  }
}
