import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { parseObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import { attempt, isAlive, ownIdentity, type ProcessIdentity, randomUuid } from "@tau-agent/system";

const HEARTBEAT_MS = 10_000;
/** An empty lease file up to this age is still being written. */
const WRITING_MS = 2_000;
/** A lease of another machine is free if it was not refreshed for this long. */
const STALE_MS = 45_000;
/** Machine clocks differ by less than this; a date further in the future says nothing about its owner. */
const MAX_AHEAD_MS = 600_000;

interface LeaseOwner extends ProcessIdentity {
  readonly host: string;
  readonly token: string;
  /** How often the session was taken; if used, it stays in the file after the lease is released. */
  readonly epoch?: number;
  /** Set if the lease is free. */
  readonly isReleased?: boolean;
}

/** The right to write one session file, held in a file next to it. */
export class SessionLease {
  readonly #path: string;
  readonly #token = randomUuid();
  #heartbeat: NodeJS.Timeout | undefined;
  #epoch = 1;
  #isCounted = false;

  /**
   * Takes the lease of `sessionPath`.
   *
   * @throws {SessionError} `session_locked` if another living process holds it.
   */
  constructor(sessionPath: string) {
    this.#path = `${sessionPath}.lock`;
    this.#take(sessionPath);
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** Increases with each host that takes the session; once this was read, the count is kept for good. */
  get epoch(): number {
    this.#isCounted = true;
    return this.#epoch;
  }

  static isHeld(sessionPath: string): boolean {
    const path = `${sessionPath}.lock`;
    return existsSync(path) && keepsOut(readOwner(path), path);
  }

  release(): void {
    if (this.#heartbeat === undefined) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
    const owner = readOwner(this.#path);
    if (owner?.token !== this.#token) return;
    const released = { ...owner, isReleased: true };
    const isKept =
      this.#isCounted && attempt(() => writeOver(this.#path, released) ?? true) === true;
    if (!isKept) remove(this.#path);
  }

  #take(sessionPath: string): void {
    const own = { ...ownIdentity(), host: hostname(), token: this.#token };
    let holder: LeaseOwner | undefined;
    // Twice, because a lease may be released after it was found.
    for (let tries = 0; tries < 2; tries += 1) {
      if (wroteNew(this.#path, { ...own, epoch: this.#epoch })) return;
      if (!existsSync(this.#path)) continue;
      holder = readOwner(this.#path);
      if (keepsOut(holder, this.#path)) break;
      const { epoch = 0, isReleased } = holder ?? {};
      this.#epoch = epoch + 1;
      // A previous host used the count, so it must not decrease even if this host does not use it.
      this.#isCounted = isReleased === true || epoch > 1;
      if (tookOver(this.#path, holder, { ...own, epoch: this.#epoch })) return;
    }
    const { pid } = readOwner(this.#path) ?? holder ?? {};
    throw new SessionError("session_locked", {
      path: sessionPath,
      owner: String(pid ?? "unknown"),
    });
  }

  #beat(): void {
    try {
      const now = new Date();
      utimesSync(this.#path, now, now);
    } catch {
      // The lease was removed by hand; the next writer's check of the file size still protects the file.
    }
  }
}

/** Returns false if a lease exists. */
function wroteNew(path: string, owner: LeaseOwner): boolean {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeFileSync(file, JSON.stringify(owner));
    return true;
  } catch (error) {
    // On a full disk, an empty lease file would lock everyone out.
    remove(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Written in one step, because a lease that cannot be read counts as one being written. */
function writeOver(path: string, owner: LeaseOwner): void {
  writeFileSync(`${path}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/**
 * Replaces a free lease. Hosts that have read the same dead lease take turns, and a lease exists at every
 * moment, so that none of them replaces the lease of a living host.
 *
 * @returns false if another host has taken the session, or is about to
 */
function tookOver(path: string, read: LeaseOwner | undefined, own: LeaseOwner): boolean {
  const turn = `${path}.taking`;
  const before = readOwner(turn);
  // A host that was killed at this point left it behind.
  if (existsSync(turn) && !keepsOut(before, turn)) remove(turn);
  if (!wroteNew(turn, own)) return false;
  try {
    if (!existsSync(path) || readOwner(path)?.token !== read?.token) return false;
    writeOver(path, own);
    return true;
  } finally {
    remove(turn);
  }
}

function readOwner(path: string): LeaseOwner | undefined {
  const value = parseObject(attempt(() => readFileSync(path, "utf8")) ?? "");
  return value && "pid" in value && "token" in value ? (value as unknown as LeaseOwner) : undefined;
}

function keepsOut(owner: LeaseOwner | undefined, path: string): boolean {
  const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (owner === undefined) return Math.abs(ageMs) < WRITING_MS;
  if (owner.isReleased) return false;
  if (owner.host !== hostname()) return ageMs <= STALE_MS && ageMs >= -MAX_AHEAD_MS;
  // On this machine the process itself can be checked: a process that slept or was stopped is still the owner.
  return isAlive(owner);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}
