import { mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join, sep } from "node:path";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { errorCode, isRunning, randomHex, writeFileAtomic } from "@tau-agent/system";
import type { Git } from "../../git/git.ts";
import { mendMerge } from "../merge/apply-patch.ts";
import { releaseMergeLock } from "../merge/merge-lock.ts";
import { removeFolder } from "../repository/remove-folder.ts";
import { keepLeftWork } from "./left-work.ts";

const HEARTBEAT_MS = 10_000;
/** An owner on another machine counts as dead after this long without a heartbeat. */
const STALE_MS = 10 * 60_000;
/**
 * An owner on this machine counts as dead after this long, even if its process id is in use;
 * computers do not sleep for so long.
 */
const STALE_HERE_MS = 7 * 24 * 60 * 60_000;
/** A lock this old is stale; owners refresh it every few seconds. Making a folder takes less. */
const STALE_LOCK_MS = 60_000;
const OWNER_FILE = "owner.json";
/** The end of a folder's name until its owner is noted. */
const MAKING = ".new";

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Repositories whose worktrees are in the folder. */
  readonly commonDirs: readonly string[];
}

/** The folder of one `task` call: its worktrees and temporary files. */
export class RunFolder {
  readonly path: string;
  readonly #heartbeat: NodeJS.Timeout;
  #commonDir: string | undefined;

  private constructor(path: string) {
    this.path = path;
    const owner = join(path, OWNER_FILE);
    this.#heartbeat = setInterval(() => {
      const now = new Date();
      utimes(owner, now, now).catch(() => undefined);
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  static async create(root: string): Promise<RunFolder> {
    const path = join(root, randomHex(4));
    const making = `${path}${MAKING}`;
    await mkdir(making, { recursive: true, mode: 0o700 });
    await writeOwner(making, []);
    await rename(making, path);
    return new RunFolder(path);
  }

  /** Records where worktrees are registered, for the cleanup after a kill. */
  noteRepository(commonDir: string): Promise<void> {
    this.#commonDir = commonDir;
    return writeOwner(this.path, [commonDir]);
  }

  /**
   * Removes the folder and unregisters its worktrees, including half-made ones. After `maxWaitMs`
   * the removal continues in the background.
   */
  async remove(maxWaitMs?: number): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.#commonDir !== undefined) await removeWorktreesIn(this.#commonDir, this.path);
    await removeFolder(this.path, maxWaitMs);
  }
}

/**
 * Removes leftovers of killed hosts under `root` and in their repositories. Undoes merges that they
 * left half written, and keeps the work of their tasks.
 */
export async function removeLeftovers(root: string, git: Git): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    const path = join(root, name);
    if (name.endsWith(".lock") && (await isStale(path))) await rmdir(path).catch(() => undefined);
    if (name.endsWith(MAKING) && (await isStale(path)))
      await removeFolder(path).catch(() => undefined);
  }
  const dead: { readonly path: string; readonly owner: Owner | undefined }[] = [];
  // Only our folders; locks are next to them.
  for (const name of names.filter((found) => /^[0-9a-f]{8}$/.test(found))) {
    const path = join(root, name);
    const found = await readOwner(path).then(
      (owner) => ({ owner }),
      () => undefined,
    );
    // The owner of a file that cannot be read may be alive.
    if (found === undefined || (await isAlive(found.owner, path))) continue;
    const { owner } = found;
    // If another process is undoing the merge, that process also removes the rest.
    const isMended = await mendMerge(path, git).catch(() => false);
    if (!isMended) continue;
    await releaseMergeLock(path);
    // Work that cannot be kept now, for example because the disk is full, may be kept later.
    if ((await keepLeftWork(path, git)) || (await ageOf(owner, path)) > STALE_HERE_MS) {
      dead.push({ path, owner });
    }
  }
  // Removed last, because a tree may be the repository of other trees.
  for (const { path, owner } of dead) {
    for (const commonDir of owner?.commonDirs ?? []) await removeWorktreesIn(commonDir, path);
    await removeFolder(path).catch(() => undefined);
  }
}

async function writeOwner(path: string, commonDirs: readonly string[]): Promise<void> {
  const owner: Owner = { pid: process.pid, host: hostname(), commonDirs };
  await writeFileAtomic(join(path, OWNER_FILE), JSON.stringify(owner));
}

/** @throws {Error} if the file is there but cannot be read now */
async function readOwner(path: string): Promise<Owner | undefined> {
  const text = await readFile(join(path, OWNER_FILE), "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
  const value = parseObject(text);
  return value && "pid" in value && "commonDirs" in value ? (value as unknown as Owner) : undefined;
}

async function isStale(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs > STALE_LOCK_MS;
}

async function isAlive(owner: Owner | undefined, path: string): Promise<boolean> {
  if (owner === undefined) return false;
  const ageMs = await ageOf(owner, path);
  if (owner.host !== hostname()) return ageMs < STALE_MS;
  if (ageMs > STALE_HERE_MS) return false;
  return isRunning(owner.pid);
}

/** The time since the owner's last sign of life. */
async function ageOf(owner: Owner | undefined, path: string): Promise<number> {
  const shown = owner === undefined ? path : join(path, OWNER_FILE);
  const { mtimeMs } = await stat(shown).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs;
}

/** Unregisters only the worktrees under `folder`. */
async function removeWorktreesIn(commonDir: string, folder: string): Promise<void> {
  const admin = join(commonDir, "worktrees");
  const run = basename(folder);
  for (const name of await readdir(admin).catch(() => [])) {
    const gitdir = await readFile(join(admin, name, "gitdir"), "utf8").catch(() => "");
    // git first creates the folder, named after the worktree, and writes its path later.
    const isOurs = gitdir.includes(`${sep}${run}${sep}`) || name.startsWith(`${run}-`);
    if (isOurs) await rm(join(admin, name), { recursive: true, force: true });
  }
  await rmdir(admin).catch(() => undefined);
}
