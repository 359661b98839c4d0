import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { attempt, errorCode } from "@tau-agent/system";

/**
 * Lets a ref name a commit as git does, without a process for it.
 *
 * @returns false where only git can: refs are not files, or somebody has locked this one
 */
export function writeRef(gitDir: string, ref: string, commit: string): boolean {
  if (existsSync(join(gitDir, "reftable"))) return false;
  const path = join(gitDir, ref);
  const lock = `${path}.lock`;
  const file = open(lock);
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

/** Undefined when it is there. */
function open(lock: string): number | undefined {
  try {
    return attempt(() => openSync(lock, "wx")) ?? openIn(lock);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    throw error;
  }
}

function openIn(lock: string): number {
  mkdirSync(dirname(lock), { recursive: true });
  return openSync(lock, "wx");
}
