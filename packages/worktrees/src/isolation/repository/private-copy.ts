import {
  copyFile,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { isInside, randomHex } from "@tau-agent/system";
import { writeNames } from "./file-names.ts";
import type { Git, GitLocation } from "./git.ts";
import { ownSettings } from "./own-settings.ts";

/** Larger lists of patterns and grafts are nothing that people write. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_LINK_BYTES = 64 * 1024;

/** Where git keeps a repository. */
interface GitFolders {
  readonly root: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/**
 * Makes a repository of ours with the objects of another and with those of its settings that count,
 * so that git never reads the other's configuration when it works on files.
 *
 * @throws {ToolError} a file here goes through a filter of a repository that is not trusted
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
  await copyPatterns(found, copy);
  await copySharedIndexes(gitDir, copy);
  const objects = join(commonDir, "objects");
  const location = { gitDir: copy, workTree: root, objects, mayFetch: isTrusted };
  if (untrustedFilters.length > 0) {
    const request = { cwd: root, location, indexFile: join(gitDir, "index"), signal };
    const used = await usedFilters(git, request, untrustedFilters);
    if (used !== undefined) throw refusedFilter(root, used);
  }
  return { location, settings: text };
}

/** A split index lies in two files, of which git looks for the second beside the settings. */
async function copySharedIndexes(gitDir: string, target: string): Promise<void> {
  for (const name of await readdir(gitDir)) {
    if (name.startsWith("sharedindex.")) {
      await copyPlainFile(join(gitDir, name), join(target, name), Number.POSITIVE_INFINITY);
    }
  }
}

/** What decides about the content of files beside the settings. */
export async function copyPatterns(
  { gitDir, commonDir }: Pick<GitFolders, "gitDir" | "commonDir">,
  target: string,
): Promise<void> {
  for (const name of ["info/exclude", "info/attributes", "info/grafts", "shallow"]) {
    await copyPlainFile(join(commonDir, name), join(target, name));
  }
  await copyPlainFile(join(gitDir, "info/sparse-checkout"), join(target, "info/sparse-checkout"));
}

/** Copies a file, if it is one; what a link or a device gives could have no end. */
export async function copyPlainFile(
  from: string,
  to: string,
  maxBytes = MAX_FILE_BYTES,
): Promise<boolean> {
  const found = await lstat(from).catch(() => undefined);
  if (!found?.isFile() || found.size > maxBytes) return false;
  return copyFile(from, to).then(
    () => true,
    () => false,
  );
}

/**
 * Opens for reading a repository that a subagent may have made or changed: its refs and objects, and
 * nothing that it is configured to do. What is added goes elsewhere.
 */
export async function readOnlyCopy(
  folders: Pick<GitFolders, "gitDir" | "commonDir">,
  options: { folder: string; workTree: string; settings: string },
): Promise<GitLocation> {
  const { gitDir, commonDir } = folders;
  const copy = await makeBareFolder(options.folder);
  await writeFile(join(copy, "config"), options.settings, { mode: 0o600 });
  await copyPatterns(folders, copy);
  await copyPlainFile(join(gitDir, "HEAD"), join(copy, "HEAD"));
  await copyPlainFile(join(commonDir, "packed-refs"), join(copy, "packed-refs"));
  await copyRefs(join(commonDir, "refs"), join(copy, "refs"));
  const objects = join(copy, "objects");
  const alternates = [join(commonDir, "objects")];
  return { gitDir: copy, workTree: options.workTree, objects, alternates };
}

/** A repository of ours with no more of another than what it ignores. */
export async function emptyCopy(
  folders: Pick<GitFolders, "gitDir" | "commonDir">,
  { folder, workTree }: { folder: string; workTree: string },
): Promise<GitLocation> {
  const gitDir = await makeBareFolder(folder);
  await copyPatterns(folders, gitDir);
  return { gitDir, workTree };
}

/** Refs that are links or larger than a ref are left out. */
async function copyRefs(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    filter: async (source) => {
      const found = await lstat(source).catch(() => undefined);
      return found?.isDirectory() === true || (found?.isFile() === true && found.size < 4096);
    },
  }).catch(() => undefined);
}

/**
 * The folders of the repository whose top is `root`, as its `.git` says: read by us, since git would
 * read the configuration, too. Undefined when there is none, or when it is not inside of `within`.
 */
export async function foldersOf(root: string, within: string): Promise<GitFolders | undefined> {
  try {
    const gitDir = await realpath(await followGitFile(join(root, ".git")));
    const shared = await readShort(join(gitDir, "commondir")).catch(() => ".");
    const commonDir = await realpath(resolve(gitDir, shared));
    if (!isInside(within, gitDir) || !isInside(within, commonDir)) return undefined;
    return (await stat(join(commonDir, "objects"))).isDirectory()
      ? { root, gitDir, commonDir }
      : undefined;
  } catch {
    return undefined;
  }
}

/** The folder that a `.git` is or points to. */
export async function followGitFile(path: string): Promise<string> {
  if ((await stat(path)).isDirectory()) return path;
  const [, target = ""] = /^gitdir: (.*)$/s.exec(await readShort(path)) ?? [];
  return resolve(dirname(path), target);
}

async function readShort(path: string): Promise<string> {
  const found = await lstat(path);
  if (!found.isFile() || found.size > MAX_LINK_BYTES)
    throw new Error(`not a file for git: ${path}`);
  return (await readFile(path, "utf8")).trimEnd();
}

/** A folder that git takes for a repository with nothing in it. */
async function makeBareFolder(folder: string): Promise<string> {
  const path = join(folder, `settings-${randomHex(6)}`);
  for (const name of ["refs", "info", "objects/info", "objects/pack"]) {
    await mkdir(join(path, name), { recursive: true, mode: 0o700 });
  }
  await writeFile(join(path, "HEAD"), "ref: refs/heads/main\n");
  return path;
}

/** A filter of these that some file goes through, and the file. */
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
