import type { Stats } from "node:fs";
import { mkdir, readFile, realpath, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { isAlive, ownIdentity, type ProcessIdentity } from "../process-identity.ts";
import { errorCode } from "./error-code.ts";
import { makeFolder } from "./make-folder.ts";
import { systemReason } from "./system-reason.ts";

/** A lock not refreshed for this long is stale, in ms. */
const staleLockMs = 30_000;
const lockWaitMs = 10_000;
const lockPollMs = 20;
const heartbeatMs = 5000;

export interface LockOptions {
  /** How long to wait for another holder, in ms; default 10 s. */
  readonly waitMs?: number | undefined;
}

/** A lock directory as its holder last left it; one that another program made differs in at least one member. */
interface HeldLock {
  readonly inode: number;
  touchedMs: number;
}

/** Follows links, so that two names of a file share one lock. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

/** Makes a lock directory; undefined if it exists. */
async function makeLock(lock: string): Promise<HeldLock | undefined> {
  try {
    await mkdir(lock, { mode: 0o700 });
  } catch (error) {
    // Windows reports a directory that is being removed as EPERM.
    if (["EEXIST", "EPERM"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
  const found = await stat(lock).catch(() => undefined);
  if (found === undefined) return undefined;
  const owner: LockOwner = { ...identityOf(found), ...ownIdentity(), host: hostname() };
  // If the owner cannot be noted, the lock of a killed process is taken over only once it is stale.
  await writeFile(ownerFile(lock), JSON.stringify(owner), { mode: 0o600 }).catch(() => undefined);
  return { inode: found.ino, touchedMs: found.mtimeMs };
}

/** The maker of a lock directory, in a file beside it: other programs expect the directory to be empty. */
interface LockOwner extends LockIdentity, ProcessIdentity {
  readonly host: string;
}

/** Tells our lock directory from one of the same name that another program has made. */
interface LockIdentity {
  readonly inode: number;
  readonly madeMs: number;
}

const ownerFile = (lock: string) => `${lock}.owner`;

function identityOf({ ino, birthtimeMs }: Stats): LockIdentity {
  return { inode: ino, madeMs: birthtimeMs };
}

/** Removes a lock, even that of another process. */
export async function dropLock(lock: string): Promise<void> {
  await rm(ownerFile(lock), { force: true }).catch(() => undefined);
  await rmdir(lock).catch(() => undefined);
}

async function isStale(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined);
  if (found === undefined) return false;
  return Math.abs(Date.now() - found.mtimeMs) > staleLockMs || (await isOrphaned(lock, found));
}

/** Whether the process that made a lock is known to have ended. */
async function isOrphaned(lock: string, found: Stats): Promise<boolean> {
  try {
    const owner = JSON.parse(await readFile(ownerFile(lock), "utf8")) as LockOwner;
    const { inode, madeMs } = identityOf(found);
    if (owner.inode !== inode || owner.madeMs !== madeMs || owner.host !== hostname()) return false;
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 && !isAlive(owner);
  } catch {
    return false;
  }
}

/**
 * Removes a lock whose holder died. Only one process at a time may do so: if two find it stale, the
 * second would remove the new lock of the first.
 */
async function removeStale(lock: string): Promise<void> {
  const guard = `${lock}.stale`;
  const held = await makeLock(guard);
  if (held === undefined) {
    if (await isStale(guard)) await dropLock(guard);
    return;
  }
  try {
    if (await isStale(lock)) await dropLock(lock);
  } finally {
    await dropLock(guard);
  }
}

/** Creates the lock directory, waiting for another process; undefined if the wait timed out. */
async function takeLock(lock: string, waitMs: number): Promise<HeldLock | undefined> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    const held = await makeLock(lock);
    if (held !== undefined) return held;
    if (await isStale(lock)) await removeStale(lock);
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
  return undefined;
}

async function isHeld(lock: string, held: HeldLock): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined);
  return found?.ino === held.inode && found.mtimeMs === held.touchedMs;
}

/** Refreshes a lock unless another process holds it by now. */
async function touch(lock: string, held: HeldLock): Promise<void> {
  if (!(await isHeld(lock, held))) return;
  const now = new Date();
  await utimes(lock, now, now);
  held.touchedMs = (await stat(lock)).mtimeMs;
}

/** Takes the lock of a file whose folder may be missing. */
async function lockBeside(target: string, waitMs: number): Promise<HeldLock | undefined> {
  try {
    await makeFolder(dirname(target), 0o700);
    return await takeLock(`${target}.lock`, waitMs);
  } catch (cause) {
    const values = { path: target, reason: systemReason(cause) };
    throw new SessionError("file_write_failed", values, { cause });
  }
}

/**
 * Runs `work` while holding `<path>.lock`, a directory as in other pi-compatible hosts. Creates the parent directory.
 * @throws {SessionError} `file_locked` if another process holds the lock for longer than the wait, `file_write_failed`
 * if no lock can be made.
 */
export async function withFileLock<T>(
  path: string,
  work: (target: string) => Promise<T>,
  { waitMs = lockWaitMs }: LockOptions = {},
): Promise<T> {
  const target = await targetOf(path);
  const lock = `${target}.lock`;
  const held = await lockBeside(target, waitMs);
  if (held === undefined) throw new SessionError("file_locked", { path: target });
  // Refreshes the lock while a slow holder (a token refresh) works.
  let touching = Promise.resolve();
  const heartbeat = setInterval(() => {
    touching = touch(lock, held).catch(() => undefined);
  }, heartbeatMs);
  heartbeat.unref();
  try {
    return await work(target);
  } finally {
    clearInterval(heartbeat);
    await touching;
    // A process that was paused for long may have lost the lock.
    if (await isHeld(lock, held)) await dropLock(lock);
  }
}
