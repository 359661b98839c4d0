import {
  closeSync,
  existsSync,
  linkSync,
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
/** An empty lease file of at most this age is still being written. */
const WRITING_MS = 2_000;
/** The lease of another machine that was not refreshed for this long is free. */
const STALE_MS = 45_000;
/** Clocks of machines differ by less; a date further ahead says nothing about its owner. */
const MAX_AHEAD_MS = 600_000;

interface LeaseOwner extends ProcessIdentity {
  readonly host: string;
  readonly token: string;
  /** How often the session was taken; kept in the file of a lease that was given back, once it was used. */
  readonly epoch?: number;
  /** Nobody holds it. */
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

  /** Rises with each host that takes the session, for good once it was asked for. */
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
    if (this.#isCounted) writeReleased(this.#path, { ...owner, isReleased: true });
    else remove(this.#path);
  }

  #take(sessionPath: string): void {
    const own = { ...ownIdentity(), host: hostname(), token: this.#token };
    // Twice: the second time after a dead owner's lease was removed.
    for (const isLastTry of [false, true]) {
      try {
        const owner: LeaseOwner = { ...own, epoch: this.#epoch };
        writeNew(this.#path, JSON.stringify(owner));
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        const holder = readOwner(this.#path);
        if (isLastTry || keepsOut(holder, this.#path) || !removeDead(this.#path, holder)) {
          throw new SessionError("session_locked", {
            path: sessionPath,
            owner: String(holder?.pid ?? "unknown"),
          });
        }
        const { epoch = 0, isReleased } = holder ?? {};
        this.#epoch = epoch + 1;
        // Somebody has counted, and the number must not fall when this host does not ask.
        this.#isCounted = isReleased === true || epoch > 1;
      }
    }
  }

  #beat(): void {
    try {
      const now = new Date();
      utimesSync(this.#path, now, now);
    } catch {
      // Removed by hand; the next writer's check of the file's size still protects it.
    }
  }
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
  } catch (error) {
    // On a full disk, an empty lease would lock out everyone.
    remove(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** In one step: a lease that cannot be read counts as one that is being written. */
function writeReleased(path: string, owner: LeaseOwner): void {
  try {
    writeFileSync(`${path}.new`, JSON.stringify(owner), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    remove(path);
  }
}

/** Removes a lease that nobody holds; false if another host has taken the session since it was read. */
function removeDead(path: string, read: LeaseOwner | undefined): boolean {
  const aside = `${path}.${randomUuid()}`;
  const isMoved = attempt(() => renameSync(path, aside) ?? true) ?? false;
  // Another host was sooner and has it, or the next try finds it free.
  if (!isMoved) return true;
  const isSame = readOwner(aside)?.token === read?.token;
  if (!isSame) attempt(() => linkSync(aside, path));
  remove(aside);
  return isSame;
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
  // Here the process itself can be looked for: one that slept, or was stopped, is still the owner.
  return isAlive(owner);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}
