import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { SessionError } from "../../errors.ts";
import { errorMessage } from "../../files/read-text.ts";
import { withFileLock } from "../../files/write-file.ts";
import { randomHex } from "../../random.ts";
import { readFileModes, restoreFileModes } from "./file-modes.ts";
import type { Isolation } from "./isolation.ts";
import { applyToTree, writePatch } from "./patch.ts";
import { commitTree, headOf, takeSnapshot } from "./repository.ts";

/** Each waits for ten seconds. */
const LOCK_ATTEMPTS = 12;

/** One task's changes, on their way back. */
export interface Change {
  readonly id: string;
  /** The tree the task left. */
  readonly tree: string;
  readonly patchPath: string;
}

/** What became of a change. */
export type MergeOutcome =
  | { readonly status: "applied" }
  | { readonly status: "branch"; readonly branch: string }
  /** Nothing of the caller's was touched; the patch is still there. `kept` was not even tried. */
  | { readonly status: "conflict" | "kept"; readonly reason: string };

/**
 * Brings changes back into the caller's working tree, one after another in the given order, each
 * in a three-way manner on what the others left. All of it is worked out beside the working tree;
 * the files are written at the end in one step that git checks first. Other hosts wait meanwhile.
 */
export function mergeChanges(
  isolation: Isolation,
  changes: readonly Change[],
  signal?: AbortSignal,
): Promise<Map<string, MergeOutcome>> {
  const lock = join(isolation.folder.path, "..", mergeLockName(isolation.repository.commonDir));
  return holdingLock(lock, signal, async () => {
    // Once more when the caller's files changed in between.
    for (let isLastTry = false; ; isLastTry = true) {
      const { outcomes, failure } = await tryToMerge(isolation, changes, signal);
      if (failure === undefined) return outcomes;
      if (!isLastTry) continue;
      for (const [id, { status }] of outcomes) {
        if (status === "applied") outcomes.set(id, { status: "conflict", reason: failure });
      }
      return outcomes;
    }
  });
}

/** The lock of one repository, beside the folders of the calls. */
function mergeLockName(commonDir: string): string {
  return `merge-${createHash("sha256").update(commonDir).digest("hex").slice(0, 8)}`;
}

/** Others may merge for long; what a killed host left behind counts for half a minute. */
async function holdingLock<T>(
  lock: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withFileLock(lock, work);
    } catch (error) {
      const isTaken = error instanceof SessionError && error.code === "file_locked";
      if (!isTaken || attempt === LOCK_ATTEMPTS || signal?.aborted) throw error;
    }
  }
}

async function tryToMerge(
  isolation: Isolation,
  changes: readonly Change[],
  signal: AbortSignal | undefined,
): Promise<{ outcomes: Map<string, MergeOutcome>; failure?: string }> {
  const { git, repository, folder } = isolation;
  const outcomes = new Map<string, MergeOutcome>();
  const place = { folder: folder.path, signal };
  const before = (await takeSnapshot(git, repository, place)).tree;
  let tree = before;
  for (const { id, patchPath } of changes) {
    const applied = await applyToTree(git, repository, { ...place, tree, path: patchPath });
    if ("conflict" in applied) {
      outcomes.set(id, { status: "conflict", reason: applied.conflict });
    } else {
      tree = applied.tree;
      outcomes.set(id, { status: "applied" });
    }
  }
  if (tree === before) return { outcomes };
  const path = join(folder.path, `${randomHex(6)}.patch`);
  const range = { from: before, to: tree };
  await writePatch(git, repository, { ...range, path });
  const modes = await readFileModes(git, repository, range);
  signal?.throwIfAborted();
  const failure = await writeToFiles(isolation, path);
  await restoreFileModes(repository.root, modes);
  return failure === undefined ? { outcomes } : { outcomes, failure };
}

/**
 * The one step that touches the caller's files. It checks everything before it writes anything, and
 * is on its own: a host that is killed meanwhile does not take it along halfway.
 */
async function writeToFiles(isolation: Isolation, path: string): Promise<string | undefined> {
  const { repository, git } = isolation;
  const { root: cwd, location } = repository;
  const checked = await git.try(["apply", "--check", path], { cwd, location });
  if (checked.exitCode !== 0) return checked.stderr.trim();
  const { file, args, env } = git.command(["apply", path], { cwd, location });
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
      windowsHide: true,
    });
    let words = "";
    child.stderr.on("data", (chunk: Buffer) => {
      words += chunk.toString("utf8");
    });
    child.on("error", (error) => resolve(errorMessage(error)));
    child.on("close", (code) => resolve(code === 0 ? undefined : words.trim()));
  });
}

/** Keeps a change as a branch on the caller's commit, or on its working state where it needs that. */
export async function makeBranch(isolation: Isolation, change: Change): Promise<MergeOutcome> {
  const { git, repository, baseline, folder } = isolation;
  const { root: cwd, location } = repository;
  if (location !== undefined) {
    return { status: "conflict", reason: "There is no git repository to make a branch in." };
  }
  const head = await headOf(git, repository);
  const onHead =
    head === undefined
      ? undefined
      : await applyToTree(git, repository, {
          tree: head,
          path: change.patchPath,
          folder: folder.path,
        });
  const commit =
    onHead !== undefined && "tree" in onHead
      ? { tree: onHead.tree, parent: head }
      : { tree: change.tree, parent: baseline.commit };
  const made = await commitTree(git, repository, { ...commit, message: `Task ${change.id}` });
  const branch = `tau/${change.id.replace(/[^\w-]+/g, "-")}-${folder.path.slice(-8)}`;
  await git.run(["branch", "--no-track", branch, made], { cwd, location });
  return { status: "branch", branch };
}
