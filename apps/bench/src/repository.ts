import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const FOLDERS = 200;

/** Creates a repository with this many files in its first commit. */
export async function makeRepository(
  cwd: string,
  files: number,
  textOf: (index: number) => string,
): Promise<void> {
  for (let index = 0; index < files; index++) {
    const folder = join(cwd, `folder-${index % FOLDERS}`);
    if (index < FOLDERS) await mkdir(folder);
    await writeFile(join(folder, `file-${index}.txt`), textOf(index));
  }
  await git(cwd, "init", "--quiet");
  await git(cwd, "add", "--all");
  await git(cwd, "commit", "--quiet", "--message", "all");
}

export function git(cwd: string, ...words: string[]): Promise<{ stdout: string }> {
  const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"];
  return run("git", [...identity, ...words], { cwd, maxBuffer: 64 * 1024 * 1024 });
}
