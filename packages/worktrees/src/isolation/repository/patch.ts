import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { randomHex } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";
import type { Repository } from "./repository.ts";

export interface PatchStatistics {
  readonly filesChanged: number;
  readonly insertions: number;
  readonly deletions: number;
  /** Paths relative to the top of the repository; for a renamed file the new path. */
  readonly files: readonly string[];
}

/** Options that make patches independent of the user's configuration. */
export const patchOptions = [
  "--full-index",
  "--unified=3",
  "--inter-hunk-context=0",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--no-relative",
  "--submodule=short",
  "-O/dev/null",
  "--find-renames",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=none",
];

/**
 * Writes the difference between two trees to `path`, byte for byte. A `prefix`, with a trailing
 * slash, is prepended to paths.
 */
export async function writePatch(
  git: Git,
  { root: cwd, location }: Repository,
  patch: { from: string; to: string; path: string; prefix?: string },
): Promise<PatchStatistics> {
  const { from, to, path, prefix = "" } = patch;
  const request = { cwd, location };
  // git omits the prefix for renames.
  const below = [`--src-prefix=a/${prefix}`, `--dst-prefix=b/${prefix}`, "--no-renames"];
  const options = [...patchOptions, ...(prefix === "" ? [] : below)];
  await git.run(["diff", "--binary", ...options, `--output=${path}`, from, to, "--"], request);
  const numbers = ["--numstat", "-z", from, to, "--"];
  const statistics = readStatistics(await git.run(["diff", ...options, ...numbers], request));
  return { ...statistics, files: statistics.files.map((file) => `${prefix}${file}`) };
}

export async function joinPatches(paths: readonly string[], target: string): Promise<void> {
  for (const [index, path] of paths.entries()) {
    const flags = index === 0 ? "w" : "a";
    await pipeline(createReadStream(path), createWriteStream(target, { flags, mode: 0o600 }));
  }
}

export function sumStatistics(all: readonly PatchStatistics[]): PatchStatistics {
  const sum = (of: (statistics: PatchStatistics) => number) =>
    all.reduce((total, statistics) => total + of(statistics), 0);
  return {
    filesChanged: sum(({ filesChanged }) => filesChanged),
    insertions: sum(({ insertions }) => insertions),
    deletions: sum(({ deletions }) => deletions),
    files: all.flatMap(({ files }) => files),
  };
}

// "added\tdeleted\tpath\0"; for a rename the path is empty and "old\0new\0" follow.
export function readStatistics(output: string): PatchStatistics {
  const parts = output.split("\0").values();
  const files: string[] = [];
  let insertions = 0;
  let deletions = 0;
  for (const part of parts) {
    const found = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(part);
    if (found === null) continue;
    insertions += Number(found[1]) || 0;
    deletions += Number(found[2]) || 0;
    let path = found[3] ?? "";
    if (path === "") {
      parts.next();
      path = String(parts.next().value ?? "");
    }
    files.push(path);
  }
  return { filesChanged: files.length, insertions, deletions, files };
}

/**
 * Applies a patch to a tree, three-way, without a working tree.
 *
 * @returns the new tree, or git's message about what does not apply
 */
export async function applyToTree(
  git: Git,
  repository: Repository,
  patch: { tree: string; path: string; folder: string; signal?: AbortSignal | undefined },
): Promise<{ tree: string } | { conflict: string }> {
  // If two patches add the same file, git writes the first version to the working tree, even with
  // --cached. So use a scratch folder instead of the user's files.
  const workTree = join(patch.folder, `${randomHex(6)}.scratch`);
  const indexFile = `${workTree}.index`;
  const location = { ...repository.location, workTree };
  const request = { cwd: workTree, location, indexFile, signal: patch.signal };
  await mkdir(workTree, { mode: 0o700 });
  try {
    await git.run(["read-tree", patch.tree], request);
    const applied = await git.try(["apply", "--cached", "--3way", patch.path], request);
    if (applied.exitCode !== 0) return { conflict: conflictText(applied.stderr) };
    return { tree: (await git.run(["write-tree"], request)).trim() };
  } finally {
    await rm(indexFile, { force: true });
    await rm(workTree, { recursive: true, force: true });
  }
}

function conflictText(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => /^error:|with conflicts/.test(line));
  return lines.slice(0, 10).join("\n") || stderr.trim().slice(0, 2000);
}
