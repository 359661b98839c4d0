import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { filterNames, isFolder, lookAt, shownName } from "../../git/file-names.ts";
import type { Git, GitRequest } from "../../git/git.ts";
import { emptyCopy, followGitFile } from "./private-copy.ts";

/** Larger untracked files are left out, and so are nested repositories with more content than this. */
const MAX_UNTRACKED_BYTES = 50 * 1024 * 1024;

/** Untracked names that are not ignored; nested repositories end with a slash. */
export function listUntracked(git: Git, request: GitRequest): Promise<string[]> {
  return git.names(["ls-files", "-z", "--others", "--exclude-standard"], request);
}

export async function listRepositories(
  git: Git,
  { cwd, folder, signal }: Pick<GitRequest, "cwd" | "signal"> & { folder: string },
  repositories: readonly string[],
): Promise<{ names: string[]; leftOut: string[] }> {
  const names: string[] = [];
  const leftOut: string[] = [];
  for (const repository of repositories) {
    const top = join(cwd, shownName(repository));
    const listed = await listFiles(git, { top, folder, signal }).catch(() => undefined);
    const all = [...new Set(listed)].map((name) => `${repository}${name}`);
    const deeper = await listRepositories(git, { cwd, folder, signal }, all.filter(isFolder));
    const files = await sortBySize(
      cwd,
      all.filter((name) => !isFolder(name)),
    );
    if (listed === undefined || files.bytes > MAX_UNTRACKED_BYTES) leftOut.push(repository);
    else {
      // One `push` with thousands of arguments would overflow the stack.
      for (const name of files.names.concat(deeper.names)) names.push(name);
      for (const name of files.leftOut.concat(deeper.leftOut)) leftOut.push(name);
    }
  }
  return { names, leftOut };
}

/** The files that a repository tracks, and those that it does not ignore; this does not require trust. */
async function listFiles(
  git: Git,
  { top, folder, signal }: { top: string; folder: string; signal: AbortSignal | undefined },
): Promise<string[]> {
  const root = await realpath(top);
  const gitDir = await followGitFile(join(root, ".git"));
  const location = await emptyCopy(git, { gitDir, commonDir: gitDir }, { folder, workTree: root });
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  return git.names(args, { cwd: root, location, indexFile: join(gitDir, "index"), signal });
}

/** The files and links that git can store, and those of them that are too large. */
export async function sortBySize(
  root: string,
  names: readonly string[],
): Promise<{ names: string[]; leftOut: string[]; bytes: number }> {
  const sorted = { names: [] as string[], leftOut: [] as string[], bytes: 0 };
  await filterNames(names, async (name) => {
    const found = await lookAt(root, name);
    if (!found?.isFile() && !found?.isSymbolicLink()) return;
    if (found.size > MAX_UNTRACKED_BYTES) sorted.leftOut.push(name);
    else {
      sorted.names.push(name);
      sorted.bytes += found.size;
    }
  });
  return sorted;
}
