import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { makeFolder, randomHex, type ToolEnvironment } from "@tau-agent/system";
import { Git } from "../../git/git.ts";
import { ObjectStore } from "./object-store.ts";

export interface OpenedStore {
  readonly git: Git;
  readonly store: ObjectStore;
  /** Whether the folder is in a repository, which may ignore files. */
  readonly isInRepository: boolean;
  /** Whether the folder is in a repository and its snapshots are not. */
  readonly isApart: boolean;
}

/**
 * Opens the repository of a folder, or our own one in the agent directory: if there is none, or if a
 * sandbox closes the agent directory to commands, but not the repository.
 *
 * @throws {ToolError} there is no git
 */
export async function openStore(
  environment: ToolEnvironment,
  { folder, directory }: { folder: string; directory: string },
): Promise<OpenedStore> {
  const git = new Git(environment);
  const temporaryDirectory = join(directory, "tmp");
  await makeFolder(directory, 0o700);
  const found = await git.try(
    ["rev-parse", "--git-common-dir", "--show-object-format", "--is-inside-work-tree"],
    { cwd: folder },
  );
  const [common = "", format, isInside] = found.stdout.split("\n");
  const isInRepository = found.exitCode === 0 && isInside === "true";
  const isApart = isInRepository && environment.sandbox !== undefined;
  if (isInRepository && !isApart) {
    const gitDir = resolve(folder, common);
    const algorithm = format === "sha256" ? "sha256" : "sha1";
    const place = { gitDir, algorithm, temporaryDirectory } as const;
    return { git, store: new ObjectStore(git, place), isInRepository, isApart };
  }
  const gitDir = join(directory, "stores", hashOf(folder));
  if (!existsSync(join(gitDir, "HEAD"))) await makeStore(git, { gitDir, temporaryDirectory });
  const place = { gitDir, algorithm: "sha1", temporaryDirectory } as const;
  return { git, store: new ObjectStore(git, place), isInRepository, isApart };
}

/** Makes our own repository, completely or not at all: another host may look for it meanwhile. */
async function makeStore(
  git: Git,
  { gitDir, temporaryDirectory }: { gitDir: string; temporaryDirectory: string },
): Promise<void> {
  await makeFolder(dirname(gitDir), 0o700);
  await makeFolder(temporaryDirectory, 0o700);
  const made = join(temporaryDirectory, `store-${randomHex(8)}`);
  const args = ["init", "--quiet", "--bare", "--shared=0600", "--template=", made];
  await git.run(args, { cwd: temporaryDirectory });
  try {
    await rename(made, gitDir);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (!existsSync(join(gitDir, "HEAD"))) throw error;
  }
}

/** A name for a folder or session that is valid in file systems and refs. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
