import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  FolderDoor,
  hasProcessGroups,
  nobodys,
  withFileLock,
  writeFileAtomic,
} from "@tau-agent/system";
import { lookAt, shownName } from "../../git/file-names.ts";
import type { Git, GitLocation, GitRequest } from "../../git/git.ts";
import { listChanges } from "../../git/lists.ts";
import { type FileMode, restoreFileModes } from "../repository/file-modes.ts";
import type { Repository } from "../repository/repository.ts";
import { type BackedUp, backUp, isUntouched, putBack } from "./backup.ts";

/** Records the files being written, so that the next host can undo the merge if this one is killed. */
const JOURNAL = "merge.json";
/**
 * Created by the writing process once everything is written: if files are missing afterwards, the user removed them.
 */
const WRITTEN = "merge.written";
/**
 * Runs git until it ends, even without its host. Git's messages go to a file: writing a warning to
 * the closed pipe of a dead host would kill it halfway.
 */
const writerScript = `words=$1; written=$2; shift 2
"$@" 2>"$words" || exit
: >"$written"`;
/** Files unchanged for this long are no longer being written. */
const STILL_MS = 500;
/** Stop checking after this many rounds: git does not write for so long, and a task is waiting. */
const MAX_LOOKS = 20;

export interface Replacement {
  /** Relative to the top of the working tree, one character per byte. */
  readonly name: string;
  /** The new content and the repository that has it; undefined for a file that is removed. */
  readonly object: { readonly id: string; readonly location: GitLocation } | undefined;
}

interface Journal {
  readonly root: string;
  readonly patch: string;
  readonly files: readonly (BackedUp & Pick<Replacement, "object">)[];
  readonly modes: readonly FileMode[];
}

/** The files in which two trees differ, below `prefix`. */
export async function listReplacements(
  git: Git,
  { root: cwd, location }: Repository,
  { from, to, prefix }: { from: string; to: string; prefix: string },
): Promise<Replacement[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
  const changes = await listChanges(git, args, { cwd, location });
  return changes.flatMap(({ oldMode, newMode, newId: id, path }): Replacement[] => {
    // A submodule's commit is not written to its folder.
    if (newMode === "160000" || oldMode === "160000") return [];
    const name = `${Buffer.from(prefix).toString("latin1")}${path}`;
    return [{ name, object: /^0+$/.test(id) ? undefined : { id, location } }];
  });
}

/**
 * Writes a patch to the caller's files. git checks the whole patch first and runs detached, so that killing the
 * host does not interrupt it. If it fails anyway (a read-only folder, a full disk), the old files are restored.
 *
 * @returns git's own message about a failure
 */
export async function applyPatch(
  git: Git,
  { root, location }: Repository,
  write: {
    folder: string;
    patch: string;
    files: readonly Replacement[];
    modes: readonly FileMode[];
  },
): Promise<string | undefined> {
  const { folder, patch, modes } = write;
  const request = { cwd: root, location, inSandbox: { writable: [] } };
  const checked = await git.try(["apply", "--check", patch], request);
  if (checked.exitCode !== 0) return checked.stderr.trim();
  const objects = new Map(write.files.map(({ name, object }) => [name, object]));
  const kept = await backUp(root, [...objects.keys()], `${patch}.before`);
  const files = kept.map((file) => ({ ...file, object: objects.get(file.name) }));
  const journal: Journal = { root, patch, files, modes };
  await writeFileAtomic(join(folder, JOURNAL), JSON.stringify(journal));
  const written = join(folder, WRITTEN);
  await rm(written, { force: true });
  const { words, exitCode } = await apply(git, { patch, written }, request);
  // git only warns about files that it cannot remove, so they are checked here.
  const isDone = exitCode === 0 && isWhole(files, (await stateOf(root, files)).found);
  const failure = isDone ? undefined : words.trim() || "git apply failed";
  if (failure === undefined) await restoreFileModes(root, modes);
  else await putBack(root, files);
  await rm(join(folder, JOURNAL), { force: true });
  await rm(written, { force: true });
  await rm(`${patch}.before`, { recursive: true, force: true });
  return failure;
}

async function apply(
  git: Git,
  { patch, written }: { patch: string; written: string },
  request: GitRequest,
): Promise<{ words: string; exitCode: number | null }> {
  const writing = { ...request, takesLargeFiles: true };
  if (git.environment.sandbox?.isAvailable === true) {
    // This ends with the host; the next host finds what is written so far.
    const { stderr, exitCode } = await git.try(["apply", patch], writing);
    if (exitCode === 0) await writeFile(written, "");
    return { words: stderr, exitCode };
  }
  const command = git.command(["apply", patch], writing);
  const words = `${patch}.words`;
  // Without a shell there is no marker file; then only the files show whether everything was written.
  const [file, args] = hasProcessGroups
    ? ["/bin/sh", ["-c", writerScript, "sh", words, written, command.file, ...command.args]]
    : [command.file, command.args];
  const exitCode = await new Promise<number | null>((resolve) => {
    const child = spawn(file, args, {
      cwd: request.cwd,
      // Parent hosts must not kill it either.
      env: { ...command.env, ...nobodys },
      detached: true,
      stdio: "ignore",
      windowsHide: true,
    });
    child.on("error", () => resolve(null));
    child.on("close", resolve);
  });
  return { words: await readFile(words, "utf8").catch(() => ""), exitCode };
}

/**
 * Undoes a merge that was half written when a host and its git were killed.
 *
 * @returns false if another host is doing so, or it cannot be done now
 */
export async function mendMerge(folder: string, git: Git): Promise<boolean> {
  const text = await readFile(join(folder, JOURNAL), "utf8").catch(() => undefined);
  if (text === undefined) return true;
  const journal = JSON.parse(text) as Journal;
  const hasWritten = () => lookAt(folder, WRITTEN).then((found) => found !== undefined);
  return withFileLock(folder, () => mend(journal, { git, hasWritten })).catch(() => false);
}

async function mend(
  { root, files, modes }: Journal,
  { git, hasWritten }: { git: Git; hasWritten: () => Promise<boolean> },
): Promise<boolean> {
  // If the drive is not mounted, do not create a folder in its place.
  if (!(await lookAt(root, ""))?.isDirectory()) return false;
  let state = await stateOf(root, files);
  for (let last = "", looks = 1; last !== state.text; state = await stateOf(root, files)) {
    if (looks === MAX_LOOKS) return false;
    looks += 1;
    last = state.text;
    await sleep(STILL_MS);
  }
  if ((await hasWritten()) || isWhole(files, state.found)) {
    await restoreFileModes(root, modes);
    return true;
  }
  const ours: BackedUp[] = [];
  for (const file of files) {
    if (!state.found.get(file.name) || (await isWritten(root, file, git))) ours.push(file);
  }
  await putBack(root, ours);
  return true;
}

type Found = ReadonlyMap<string, Awaited<ReturnType<typeof lookAt>>>;

function isWhole(files: Journal["files"], all: Found): boolean {
  // On file systems that ignore case, a removed name may equal an added one.
  const made = new Set(files.flatMap(({ name, object }) => (object ? [name.toLowerCase()] : [])));
  return files.every(({ name, before, object }) => {
    const found = all.get(name);
    if (object !== undefined) return found !== undefined && !isUntouched(before, found);
    return found === undefined || made.has(name.toLowerCase());
  });
}

async function stateOf(
  root: string,
  files: Journal["files"],
): Promise<{ found: Found; text: string }> {
  const found = new Map<string, Awaited<ReturnType<typeof lookAt>>>();
  for (const { name } of files) found.set(name, await lookAt(root, name));
  const text = JSON.stringify(
    [...found.values()].map((stats) => stats && [stats.ino, stats.mtimeMs, stats.size]),
  );
  return { found, text };
}

/** Whether a file contains the new content or its beginning. Any other content is the user's. */
async function isWritten(
  root: string,
  { name, object }: Journal["files"][number],
  git: Git,
): Promise<boolean> {
  if (object === undefined) return false;
  const location = { ...object.location, workTree: root };
  const args = ["cat-file", "--filters", `--path=${shownName(name)}`, object.id];
  using door = new FolderDoor(root);
  const { content } = door.read(name);
  let left = content.length;
  const wanted = createHash("sha256");
  await git.feed(args, { cwd: root, location, takesLargeFiles: true }, (chunk) => {
    wanted.update(chunk.subarray(0, left));
    left -= Math.min(left, chunk.length);
  });
  if (left > 0) return false;
  return wanted.digest().equals(createHash("sha256").update(content).digest());
}
