import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readlink, rm, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runProcess, type ToolEnvironment } from "@tau-agent/system";

/** The number of concurrent copies; more would only wait for the disk. */
const COPIES = 16;
/** The most bytes of arguments per command; systems allow more. */
const MAX_ARGUMENT_BYTES = 256 * 1024;

export interface ClonedFiles {
  readonly from: string;
  readonly to: string;
  readonly files: readonly string[];
  readonly environment: ToolEnvironment;
  readonly signal: AbortSignal | undefined;
}

/**
 * Copies files without using disk space until one is changed, on file systems that share blocks
 * between files (APFS, Btrfs, XFS, ReFS). Keeps their times. Skips files that cannot be copied.
 *
 * @returns false, without copying anything, if blocks cannot be shared
 */
export async function cloneFiles(request: ClonedFiles): Promise<boolean> {
  // A command could swap folders for links during copying.
  if (request.environment.sandbox !== undefined) return false;
  const probed = await findSharable(request);
  if (probed === undefined) return false;
  const hasCloned =
    process.platform === "linux" && (await cloneWithCommand(request).catch(() => false));
  if (!hasCloned) await cloneOneByOne(request);
  return true;
}

/** A file whose blocks can be shared; undefined if the file systems cannot share any. */
async function findSharable({ from, to, files }: ClonedFiles): Promise<string | undefined> {
  const probe = join(to, ".tau-probe");
  for (const file of files.slice(0, 100)) {
    const found = await lstat(join(from, file)).catch(() => undefined);
    if (!found?.isFile() || found.size === 0) continue;
    try {
      await copyFile(join(from, file), probe, constants.COPYFILE_FICLONE_FORCE);
      return file;
    } catch {
      return undefined;
    } finally {
      await rm(probe, { force: true });
    }
  }
  return undefined;
}

/** GNU `cp` does in one process what would take some 100 000 calls here. */
async function cloneWithCommand(request: ClonedFiles): Promise<boolean> {
  const options = ["--reflink=always", "--no-dereference", "--preserve=mode,timestamps"];
  const { environment, from, to, signal } = request;
  for (const files of chunksOf(request.files)) {
    const outcome = await runProcess({
      file: "cp",
      args: [...options, "--parents", `--target-directory=${to}`, "--", ...files],
      cwd: from,
      variables: { PATH: environment.environment.PATH ?? "", LC_ALL: "C" },
      processes: environment.processes,
      signal,
      onOutput: () => undefined,
    });
    // Exit code 1: a file is gone or has become a folder. Other programs named cp lack these options.
    const isDone = outcome.kind === "exited" && outcome.exitCode <= 1;
    if (!isDone || !(await hasAny(to, files))) return false;
  }
  return true;
}

function* chunksOf(files: readonly string[]): Generator<string[]> {
  let chunk: string[] = [];
  let size = 0;
  for (const file of files) {
    const bytes = Buffer.byteLength(file) + 1;
    if (size + bytes > MAX_ARGUMENT_BYTES && chunk.length > 0) {
      yield chunk;
      chunk = [];
      size = 0;
    }
    chunk.push(file);
    size += bytes;
  }
  if (chunk.length > 0) yield chunk;
}

async function hasAny(folder: string, files: readonly string[]): Promise<boolean> {
  for (const file of files.slice(0, 100)) {
    if ((await lstat(join(folder, file)).catch(() => undefined)) !== undefined) return true;
  }
  return false;
}

async function cloneOneByOne({ from, to, files, signal }: ClonedFiles): Promise<void> {
  const folders = new Set(files.map((file) => dirname(join(to, file))));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const queue = files.values();
  const workers = Array.from({ length: COPIES }, async () => {
    for (const file of queue) {
      if (signal?.aborted) return;
      await cloneFile(join(from, file), join(to, file)).catch(() => undefined);
    }
  });
  await Promise.all(workers);
}

async function cloneFile(source: string, target: string): Promise<void> {
  const found = await lstat(source);
  if (found.isSymbolicLink()) await symlink(await readlink(source), target);
  else if (found.isFile()) {
    await copyFile(source, target, constants.COPYFILE_FICLONE);
    await utimes(target, found.atime, found.mtime);
  }
}
