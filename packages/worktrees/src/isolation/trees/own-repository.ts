import { constants } from "node:fs";
import { copyFile, cp, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Git } from "../../git/git.ts";
import { copyPlainFile, openGitFolder } from "../repository/git-files.ts";
import { copyPatterns } from "../repository/private-copy.ts";
import { type Repository, withRefs } from "../repository/repository.ts";
import type { Worktree } from "./worktree.ts";

export interface RepositoryTemplate {
  readonly path: string;
  readonly refs: ReadonlyMap<string, string>;
}

/**
 * Creates a repository that has the caller's current branches, tags, stashes and settings and reads
 * the caller's objects. Changes in a copy of it never reach the caller's repository.
 */
export async function makeTemplate(
  git: Git,
  repository: Repository,
  path: string,
): Promise<RepositoryTemplate> {
  const { commonDir, gitDir } = repository;
  for (const name of ["objects/info", "objects/pack", "refs", "info", "logs/refs"]) {
    await mkdir(join(path, name), { recursive: true, mode: 0o700 });
  }
  await writeFile(join(path, "HEAD"), "ref: refs/heads/main\n");
  const objects = join(commonDir, "objects").replaceAll("\\", "/");
  await writeFile(join(path, "objects/info/alternates"), `${quoted(objects)}\n`);
  await copyPatterns(git, { gitDir, commonDir }, path);
  using shared = openGitFolder(git, commonDir);
  const stash = "logs/refs/stash";
  const hasStash = await copyPlainFile(shared, stash, { to: join(path, stash) });
  // The config may contain URLs with passwords.
  await writeFile(join(path, "config"), repository.settings, { mode: 0o600 });
  return { path, refs: await writeRefs(git, repository, { path, hasStash }) };
}

/** Gives a worktree a copy of the template. The caller's repository still lists the worktree. */
export async function giveOwnRepository(
  template: RepositoryTemplate,
  { path, adminDir }: Pick<Worktree, "path" | "adminDir">,
  commit: string,
): Promise<string> {
  const gitDir = `${path}.git`;
  await cp(template.path, gitDir, { recursive: true, mode: constants.COPYFILE_FICLONE });
  // Not copied: with the reftable format, the file is only a stub.
  await writeFile(join(gitDir, "HEAD"), `${commit}\n`);
  await copyFile(join(adminDir, "index"), join(gitDir, "index"), constants.COPYFILE_FICLONE);
  const link = `${gitDir}/link`;
  await writeFile(link, `gitdir: ${gitDir.replaceAll("\\", "/")}\n`);
  await rename(link, join(path, ".git"));
  return gitDir;
}

/** Refs by their full names; symbolic refs as git resolves them. */
export async function readRefs(
  git: Git,
  request: Parameters<Git["try"]>[1],
): Promise<{ name: string; id: string; target: string }[]> {
  const format = "--format=%(objectname) %(refname) %(symref)";
  // Skip broken refs.
  const { stdout } = await git.try(["for-each-ref", format], request);
  return stdout.split("\n").flatMap((line) => {
    const [id = "", name = "", target = ""] = line.split(" ");
    return name === "" ? [] : [{ name, id, target }];
  });
}

async function writeRefs(
  git: Git,
  repository: Repository,
  { path, hasStash }: { path: string; hasStash: boolean },
): Promise<Map<string, string>> {
  const [cwd, location] = [repository.root, withRefs(repository)];
  const refs = new Map<string, string>();
  const packed: string[] = [];
  for (const { name, id, target } of await readRefs(git, { cwd, location })) {
    // Stashes are entries of this ref's log. Without the log file they cannot be copied.
    if (name === "refs/stash" && !hasStash) continue;
    refs.set(name, id);
    if (target === "") packed.push(`${id} ${name}\n`);
    else {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), `ref: ${target}\n`);
    }
  }
  await writeFile(join(path, "packed-refs"), packed.join(""));
  return refs;
}

/** Quotes a path for a list in which git gives some characters a meaning. */
function quoted(path: string): string {
  if (!/^["#]|[\n\t"]/.test(path)) return path;
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}
