import { mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { attempt, isInside, randomHex } from "@tau-agent/system";
import { writeNames } from "../../git/file-names.ts";
import type { Git, GitLocation } from "../../git/git.ts";
import { copyPlainFile, copyRefs, namesIn, openGitFolder, readLinkFile } from "./git-files.ts";
import { ownSettings } from "./own-settings.ts";

/** An index of a million files takes a few hundred megabytes. */
const MAX_INDEX_BYTES = 1024 * 1024 * 1024;

interface GitFolders {
  readonly root: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/**
 * Makes our own repository with the objects of another one and with its relevant settings, so that
 * git never reads the other's configuration when it works on files.
 *
 * @throws {ToolError} a file uses a filter of an untrusted repository
 */
export async function makePrivateCopy(
  git: Git,
  found: GitFolders,
  options: { folder: string; isTrusted: boolean; signal: AbortSignal | undefined },
): Promise<{ location: GitLocation; settings: string }> {
  const { folder, isTrusted, signal } = options;
  const { root, gitDir, commonDir } = found;
  const copy = await makeBareFolder(folder);
  const raw = { cwd: root, location: { gitDir, workTree: root }, signal };
  const where = { gitDir: copy, commonDir, isTrusted };
  const { text, untrustedFilters } = await ownSettings(git, raw, where);
  await writeFile(join(copy, "config"), text, { mode: 0o600 });
  await copyPatterns(git, found, copy);
  await copySharedIndexes(git, gitDir, copy);
  const objects = join(commonDir, "objects");
  const location = { gitDir: copy, workTree: root, objects, mayFetch: isTrusted };
  if (untrustedFilters.length > 0) {
    const request = { cwd: root, location, indexFile: join(gitDir, "index"), signal };
    const used = await usedFilters(git, request, untrustedFilters);
    if (used !== undefined) throw refusedFilter(root, used);
  }
  return { location, settings: text };
}

/** A split index consists of two files; git looks for the second one beside the settings. */
async function copySharedIndexes(git: Git, gitDir: string, target: string): Promise<void> {
  using door = openGitFolder(git, gitDir);
  for (const name of namesIn(door, "")) {
    if (name.startsWith("sharedindex.")) {
      await copyPlainFile(door, name, { to: join(target, name), maxBytes: MAX_INDEX_BYTES });
    }
  }
}

/** Copies the pattern files, which affect the content of files besides the settings. */
export async function copyPatterns(
  git: Git,
  { gitDir, commonDir }: Pick<GitFolders, "gitDir" | "commonDir">,
  target: string,
): Promise<void> {
  using shared = openGitFolder(git, commonDir);
  for (const name of ["info/exclude", "info/attributes", "info/grafts", "shallow"]) {
    await copyPlainFile(shared, name, { to: join(target, name) });
  }
  using own = openGitFolder(git, gitDir);
  const sparse = "info/sparse-checkout";
  await copyPlainFile(own, sparse, { to: join(target, sparse) });
}

/**
 * Opens a repository that a subagent may have made or changed for reading: its refs and objects, but
 * none of its configuration. New objects are stored elsewhere.
 */
export async function readOnlyCopy(
  git: Git,
  folders: Pick<GitFolders, "gitDir" | "commonDir">,
  options: { folder: string; workTree: string; settings: string },
): Promise<GitLocation> {
  const { gitDir, commonDir } = folders;
  const copy = await makeBareFolder(options.folder);
  await writeFile(join(copy, "config"), options.settings, { mode: 0o600 });
  await copyPatterns(git, folders, copy);
  using own = openGitFolder(git, gitDir);
  await copyPlainFile(own, "HEAD", { to: join(copy, "HEAD") });
  using shared = openGitFolder(git, commonDir);
  await copyPlainFile(shared, "packed-refs", { to: join(copy, "packed-refs") });
  await copyRefs(shared, "refs", join(copy, "refs"));
  const objects = join(copy, "objects");
  const alternates = [join(commonDir, "objects")];
  return { gitDir: copy, workTree: options.workTree, objects, alternates };
}

/** Our own repository that takes only the ignore rules from another one. */
export async function emptyCopy(
  git: Git,
  folders: Pick<GitFolders, "gitDir" | "commonDir">,
  { folder, workTree }: { folder: string; workTree: string },
): Promise<GitLocation> {
  const gitDir = await makeBareFolder(folder);
  await copyPatterns(git, folders, gitDir);
  return { gitDir, workTree };
}

/**
 * The folders of the repository with the top `root`, according to its `.git`, which is read here because git would
 * read the configuration, too. Undefined if there is no repository, or it is not inside `within`.
 */
export async function foldersOf(root: string, within: string): Promise<GitFolders | undefined> {
  try {
    const gitDir = await realpath(await followGitFile(join(root, ".git")));
    const commonDir = await realpath(resolve(gitDir, sharedFolder(gitDir)));
    if (!isInside(within, gitDir) || !isInside(within, commonDir)) return undefined;
    return (await stat(join(commonDir, "objects"))).isDirectory()
      ? { root, gitDir, commonDir }
      : undefined;
  } catch {
    return undefined;
  }
}

function sharedFolder(gitDir: string): string {
  return attempt(() => readLinkFile(join(gitDir, "commondir"))) ?? ".";
}

/** The folder that a `.git` is or points to. */
export async function followGitFile(path: string): Promise<string> {
  if ((await stat(path)).isDirectory()) return path;
  const [, target = ""] = /^gitdir: (.*)$/s.exec(readLinkFile(path)) ?? [];
  return resolve(dirname(path), target);
}

/** A folder that git accepts as an empty repository. */
async function makeBareFolder(folder: string): Promise<string> {
  const path = join(folder, `settings-${randomHex(6)}`);
  for (const name of ["refs", "info", "objects/info", "objects/pack"]) {
    await mkdir(join(path, name), { recursive: true, mode: 0o700 });
  }
  await writeFile(join(path, "HEAD"), "ref: refs/heads/main\n");
  return path;
}

/** The first of these filters that a file uses, and the file. */
async function usedFilters(
  git: Git,
  request: Parameters<Git["run"]>[1] & { location: GitLocation },
  filters: readonly string[],
): Promise<{ filter: string; file: string } | undefined> {
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const names = await git.names(listed, request);
  const inputFile = join(request.location.gitDir, "names");
  await writeNames(inputFile, names);
  const answers = await git.names(["check-attr", "-z", "--stdin", "filter"], {
    ...request,
    inputFile,
  });
  const wanted = new Set(filters);
  for (let index = 0; index + 2 < answers.length; index += 3) {
    const [name = "", , value = ""] = answers.slice(index, index + 3);
    const filter = Buffer.from(value, "latin1").toString("utf8");
    if (wanted.has(filter)) return { filter, file: Buffer.from(name, "latin1").toString("utf8") };
  }
  return undefined;
}

function refusedFilter(
  root: string,
  { filter, file }: { filter: string; file: string },
): ToolError {
  return new ToolError(
    `Isolated tasks cannot be run in ${root}: ${JSON.stringify(file)} goes through the git filter ${JSON.stringify(filter)}, whose command the repository's own configuration defines, and the project is not trusted. Trust the project, define the filter in your global git configuration (git config --global), or run the task without isolated.`,
  );
}
