import { mkdir, open, realpath, rename, rm, rmdir, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { SessionError } from "../errors.ts";
import { randomHex } from "../random.ts";
import { makeFolder } from "./make-folder.ts";
import { errorCode } from "./read-text.ts";

/** A lock not refreshed for this long is stale, in ms. */
const staleLockMs = 30_000;
const lockWaitMs = 10_000;
const lockPollMs = 20;
const heartbeatMs = 5000;

/** Follows links, so that two names of a file share one lock. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

/** Creates the lock directory, waiting for another process; false if the wait timed out. */
async function takeLock(lock: string): Promise<boolean> {
  const deadline = Date.now() + lockWaitMs;
  while (Date.now() < deadline) {
    try {
      await mkdir(lock, { mode: 0o700 });
      return true;
    } catch (error) {
      // Windows reports a directory that is being removed as EPERM.
      if (!["EEXIST", "EPERM"].includes(errorCode(error))) throw error;
    }
    const age = await stat(lock).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > staleLockMs) await rmdir(lock).catch(() => undefined);
    else await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
  return false;
}

/**
 * Runs `work` while holding `<path>.lock`, a directory as in other pi-compatible hosts. Creates the
 * parent directory.
 * @throws {SessionError} `file_locked` if another process keeps the lock for longer than 10 s.
 */
export async function withFileLock<T>(
  path: string,
  work: (target: string) => Promise<T>,
): Promise<T> {
  await makeFolder(dirname(path), 0o700);
  const target = await targetOf(path);
  const lock = `${target}.lock`;
  if (!(await takeLock(lock))) {
    throw new SessionError("file_locked", { path: target });
  }
  // Refreshes the lock while a slow holder (a token refresh) works.
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => undefined);
  }, heartbeatMs);
  heartbeat.unref();
  try {
    return await work(target);
  } finally {
    clearInterval(heartbeat);
    await rmdir(lock).catch(() => undefined);
  }
}

/**
 * Replaces `path` in one step; readers see the old or the new text. The text may come in pieces. An
 * existing file keeps its mode, a new one gets 0600.
 */
export async function writeFileAtomic(
  path: string,
  text: string | AsyncIterable<string>,
): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${path}.${randomHex(6)}.tmp`;
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
