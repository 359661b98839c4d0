import { mkdir, readdir, readFile, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join, sep } from "node:path";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { isRunning, randomHex } from "@tau-agent/system";
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
/** A lock this old is stale; owners refresh it every few seconds. */
const STALE_LOCK_MS = 60_000;
/** A folder without an owner file may still be under construction until it is this old. */
const MAKING_MS = 5_000;
const OWNER_FILE = "owner.json";

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
    await mkdir(path, { recursive: true, mode: 0o700 });
    await writeOwner(path, []);
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
  for (const name of names.filter((found) => found.endsWith(".lock"))) {
    const path = join(root, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > STALE_LOCK_MS) await rmdir(path).catch(() => undefined);
  }
  const dead: { readonly path: string; readonly owner: Owner | undefined }[] = [];
  // Only our folders; locks are next to them.
  for (const name of names.filter((found) => /^[0-9a-f]{8}$/.test(found))) {
    const path = join(root, name);
    const owner = await readOwner(path);
    if (await isAlive(owner, path)) continue;
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
  await writeFile(join(path, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
}

async function readOwner(path: string): Promise<Owner | undefined> {
  const value = parseObject(await readFile(join(path, OWNER_FILE), "utf8").catch(() => ""));
  return value && "pid" in value && "commonDirs" in value ? (value as unknown as Owner) : undefined;
}

async function isAlive(owner: Owner | undefined, path: string): Promise<boolean> {
  const ageMs = await ageOf(owner, path);
  if (owner === undefined) return ageMs < MAKING_MS;
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
