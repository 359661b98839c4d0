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
 * Lets a ref name a commit as git does, without a process for it.
 *
 * @returns false where only git can: refs are not files, or somebody has locked this one
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

/** An empty ref would be a broken one for every git in this repository: it is on the disk before it has its name. */
function write(file: number, text: string): void {
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Open for those that the repository is open for; undefined when it is there. */
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
