import { createHash } from "node:crypto";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { dropLock, randomHex, withFileLock } from "@tau-agent/system";
import type { Repository } from "../repository/repository.ts";

/** The number of attempts, each of which waits for ten seconds. */
const LOCK_ATTEMPTS = 12;
/** File in the folder of the call that holds the lock; contains the lock's path. */
const HOLDS_LOCK = "merging";
/**
 * Within this time after it was taken, the lock cannot belong to anyone else: locks become stale after half a minute.
 */
const SURELY_OWN_MS = 20_000;

/** Keeps other hosts from merging into the same repository while `work` runs. Waits for them, possibly for minutes. */
export async function holdingMergeLock<T>(
  place: { folder: string; repository: Repository; signal: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const { folder, repository, signal } = place;
  const hash = createHash("sha256").update(repository.commonDir).digest("hex").slice(0, 8);
  const lock = join(folder, "..", `merge-${hash}`);
  const mark = join(folder, HOLDS_LOCK);
  const markedWork = async (): Promise<T> => {
    await writeFile(mark, lock);
    return work().finally(() => rm(mark, { force: true }));
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await withFileLock(lock, markedWork);
    } catch (error) {
      const isTaken = error instanceof SessionError && error.code === "file_locked";
      if (!isTaken || attempt === LOCK_ATTEMPTS || signal?.aborted) throw error;
    }
  }
}

/** Releases the lock of a dead host whose call used this folder; an older lock becomes stale by itself. */
export async function releaseMergeLock(folder: string): Promise<void> {
  const mark = join(folder, HOLDS_LOCK);
  const claimed = `${mark}-${randomHex(4)}`;
  try {
    const { mtimeMs } = await stat(mark);
    // Only one of several cleaning hosts may do so: a moment later the lock may belong to a living host.
    await rename(mark, claimed);
    if (Date.now() - mtimeMs < SURELY_OWN_MS)
      await dropLock(`${await readFile(claimed, "utf8")}.lock`);
  } catch {
    // It did not hold the lock, or another host is releasing it.
  }
}
