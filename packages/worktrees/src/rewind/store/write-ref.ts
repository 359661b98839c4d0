import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "@tau-agent/system";

/**
 * Points a ref to a commit as git does, without starting a process.
 *
 * @returns false if only git can do that: refs are not files, or another process has locked this one
 */
export function writeRef(gitDir: string, ref: string, commit: string): boolean {
  if (existsSync(join(gitDir, "reftable"))) return false;
  const path = join(gitDir, ref);
  const lock = `${path}.lock`;
  const file = open(gitDir, lock);
  if (file === undefined) return false;
  try {
    write(file, `${commit}\n`);
    renameSync(lock, path);
    return true;
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  }
}

/** Flushes the file before it is renamed: an empty ref would be broken for every git in this repository. */
function write(file: number, text: string): void {
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Opens the lock file with the repository's permissions; undefined if it exists. */
function open(gitDir: string, lock: string): number | undefined {
  const mode = statSync(join(gitDir, "refs")).mode & 0o777;
  try {
    mkdirSync(dirname(lock), { recursive: true, mode });
    return openSync(lock, "wx", mode & 0o666);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    throw error;
  }
}
