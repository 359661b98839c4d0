import { constants, createWriteStream } from "node:fs";
import { open, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ToolError } from "@tau-agent/agent";
import { closedPaths, errorCode, FolderDoor, randomHex } from "@tau-agent/system";
import {
  filterNames,
  isFolder,
  lookAt,
  parentOf,
  shownName,
  writeNames,
} from "../../git/file-names.ts";
import type { Git, GitRequest } from "../../git/git.ts";
import type { Repository } from "./repository.ts";
import { listRepositories, listUntracked, sortBySize } from "./untracked.ts";

/** A state of a working tree: everything except ignored files. */
export interface Snapshot {
  readonly tree: string;
  /** An index of exactly this tree, with the times of the files on disk. */
  readonly indexFile: string;
  /** Whether the tree has files that are not on disk, as in a sparse checkout. */
  readonly hasHidden: boolean;
  /** Files that are missing although git does not ignore them: too large, unreadable, or a repository. */
  readonly leftOut: readonly string[];
}

interface SnapshotOptions {
  /** The folder for files that git needs. */
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  /** Whether to include files of nested repositories, which git leaves out. */
  readonly takesRepositories?: boolean;
  /** Ignored files to include if they exist. */
  readonly ignored?: readonly string[];
  /** Whether files may be hidden from git; by default this is checked. */
  readonly hasHidden?: boolean;
  /** Whether to ignore the repository's index, because it belongs to another tree. */
  readonly startsEmpty?: boolean;
}

/** Records the state of a working tree without touching its index, its refs or its files. */
export async function takeSnapshot(
  git: Git,
  repository: Repository,
  options: SnapshotOptions,
): Promise<Snapshot> {
  const { root: cwd, location } = repository;
  const indexFile = join(options.folder, `${randomHex(6)}.index`);
  const objects = location.objects ?? join(location.gitDir, "objects");
  const writable = [options.folder, objects];
  const request = { cwd, location, indexFile, signal: options.signal, writable };
  using door = new FolderDoor(cwd, closedPaths(git.environment));
  if (options.startsEmpty !== true) await copyIndex(repository.gitDir, indexFile);
  const hasHidden = options.hasHidden === false ? false : await lookBehindFlags(git, request, door);
  const unreadable = await updateTracked(git, request, door);
  const found = await listUntracked(git, request);
  const { open, closed } = sortByDoor(door, found);
  for (const name of closed) unreadable.push(name);
  const inside = open.filter(isFolder);
  const files = await sortBySize(
    cwd,
    open.filter((name) => !isFolder(name)),
  );
  const repositories =
    options.takesRepositories === true
      ? await listRepositories(git, { cwd, folder: options.folder, signal: options.signal }, inside)
      : { names: [], leftOut: inside };
  if (files.names.length > 0) {
    await writeNames(`${indexFile}.names`, files.names);
    const from = ["--pathspec-file-nul", `--pathspec-from-file=${indexFile}.names`];
    const listLeft = async () => {
      const still = new Set(await listUntracked(git, request));
      return files.names.filter((name) => still.has(name));
    };
    for (const name of await add(git, { args: from, listLeft }, request)) unreadable.push(name);
  }
  const wanted = await sortBySize(cwd, options.ignored ?? []);
  const others = sortByDoor(door, repositories.names.concat(wanted.names));
  await updateIndex(git, request, ["--add"], others.open);
  const tree = (await git.run(["write-tree"], request)).trim();
  const leftOut = [...files.leftOut, ...repositories.leftOut, ...wanted.leftOut, ...others.closed];
  const all = new Set(leftOut.concat(unreadable));
  return { tree, indexFile, hasHidden, leftOut: [...all].map(shownName) };
}

/**
 * Adds changes to tracked files; returns unreadable files. `git add` would look for changes in
 * submodules by running git there, with the configuration found there.
 */
async function updateTracked(git: Git, request: IndexRequest, door: FolderDoor): Promise<string[]> {
  const listLeft = () => git.names(["ls-files", "-z", "--modified"], request);
  const staged = await git.names(["ls-files", "-z", "--stage"], request);
  const nameOf = (entry: string) => entry.slice(entry.indexOf("\t") + 1);
  const submodules = staged.filter((entry) => entry.startsWith("160000 ")).map(nameOf);
  // Closed files stay as in the commit.
  const closed = staged.map(nameOf).filter((name) => door.closed.hasPath(name));
  if (submodules.length + closed.length === 0) {
    return add(git, { args: ["--update", "--", "."], listLeft }, request);
  }
  const patterns = `${request.indexFile}.patterns`;
  const others = [...submodules, ...closed].map((name) => `:(top,literal,exclude)${name}`);
  await writeNames(patterns, [":/", ...others]);
  const args = ["--update", "--pathspec-file-nul", `--pathspec-from-file=${patterns}`];
  const unreadable = await add(git, { args, isPattern: true, listLeft }, request);
  // Only the checked-out commit matters here, and no program is needed to find it.
  await updateIndex(git, request, ["--remove"], submodules);
  return unreadable;
}

/** Which names may be recorded; a folder that is being swapped may not. */
function sortByDoor(door: FolderDoor, names: readonly string[]) {
  const isClosed = (name: string): boolean => {
    try {
      const path = isFolder(name) ? name.slice(0, -1) : name;
      return door.isClosed(path, door.look(path));
    } catch {
      return true;
    }
  };
  const closed = new Set(names.filter(isClosed));
  return { open: names.filter((name) => !closed.has(name)), closed: [...closed] };
}

async function copyIndex(gitDir: string, indexFile: string): Promise<void> {
  try {
    await copyIndexFile(join(gitDir, "index"), indexFile);
  } catch (error) {
    // A repository to which nothing was ever added has no index.
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/**
 * Copies an index with its time. git reads files again that are not older than the index, because
 * they may have changed within the same second.
 */
export async function copyIndexFile(from: string, to: string): Promise<void> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw errorCode(error) === "ELOOP" ? new ToolError(`${from} is not a file`) : error;
  });
  try {
    // Checked after opening, because a command may swap it at any time.
    const found = await file.stat();
    if (!found.isFile()) throw new ToolError(`${from} is not a file`);
    await pipeline(file.createReadStream({ autoClose: false }), createWriteStream(to));
    await utimes(to, found.atime, found.mtime);
  } finally {
    await file.close();
  }
}

type IndexRequest = GitRequest & {
  readonly indexFile: string;
  /** Folders for recorded objects; git writes to them when it reads files in the sandbox. */
  readonly writable: readonly string[];
};

const readingFiles = <Request extends IndexRequest>({ writable, ...request }: Request) => ({
  ...request,
  inSandbox: { writable },
});

/**
 * Records files that are hidden from git (assume-unchanged, skip-worktree) as they are on disk.
 * Files missing in a sparse checkout keep their recorded state.
 *
 * @returns whether there are such files
 */
async function lookBehindFlags(
  git: Git,
  request: IndexRequest,
  door: FolderDoor,
): Promise<boolean> {
  const flagged: string[] = [];
  const unchanged = new Set<string>();
  for (const entry of await git.names(["ls-files", "-v", "-z"], request)) {
    const name = entry.slice(2);
    if (/^[a-zS] /.test(entry)) flagged.push(name);
    if (/^[a-rt-z] /.test(entry)) unchanged.add(name);
  }
  const folders = new Map<string, Promise<unknown>>();
  const seen = await filterNames(flagged, async (name) => {
    if (door.closed.hasPath(name)) return false;
    if (unchanged.has(name)) return true;
    // In a sparse checkout, whole folders are missing.
    const folder = parentOf(name);
    if (!folders.has(folder)) folders.set(folder, lookAt(request.cwd, folder));
    return (await folders.get(folder)) && lookAt(request.cwd, name);
  });
  if (seen.length === 0) return flagged.length > 0;
  for (const option of ["--no-skip-worktree", "--no-assume-unchanged"]) {
    await updateIndex(git, request, [option], seen);
  }
  // `git add` would skip files in folders that a sparse pattern excludes.
  await updateIndex(git, request, ["--add", "--remove"], seen);
  return flagged.length > seen.length;
}

async function updateIndex(
  git: Git,
  request: IndexRequest,
  options: readonly string[],
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const inputFile = `${request.indexFile}.names`;
  await writeNames(inputFile, names);
  const reading = { ...readingFiles(request), inputFile };
  await git.run(["update-index", ...options, "-z", "--stdin"], reading);
}

/** Adds files to the index and returns those from `listLeft` that cannot be read. */
async function add(
  git: Git,
  {
    args,
    isPattern,
    listLeft,
  }: { args: readonly string[]; isPattern?: boolean; listLeft: () => Promise<string[]> },
  request: IndexRequest,
): Promise<string[]> {
  const command = [...(isPattern === true ? [] : ["--literal-pathspecs"]), "add"];
  const reading = readingFiles(request);
  const { exitCode, stderr } = await git.try([...command, ...args], reading);
  if (exitCode === 0) return [];
  // Include files outside a sparse checkout's paths; older versions of git lack the option.
  const sparse = stderr.includes("--sparse") ? ["--sparse"] : [];
  const again = [...command, ...sparse, "--ignore-errors", ...args];
  if ((await git.try(again, reading)).exitCode === 0) return [];
  const left = await filterNames(await listLeft(), (name) => lookAt(request.cwd, name));
  if (left.length === 0) await git.run([...command, ...sparse, ...args], reading);
  return left;
}
