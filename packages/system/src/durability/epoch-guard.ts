import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { WorkspaceError, type WorkspaceOwner } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../base/attempt.ts";
import { errorCode } from "../base/files/error-code.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "../base/process-identity.ts";
import { randomHex } from "../base/random.ts";
import { Turns } from "../base/turns.ts";
import { durableFolder } from "./durable-folder.ts";

/** How long an older host may hold the lock of a session that a newer host has taken over. */
const graceMs = 2_000;
const waitMs = 30_000;
const pollMs = 5;

interface Holder extends ProcessIdentity {
  readonly epoch: number;
  readonly token: string;
}

/**
 * Lets only the newest host of a session make changes (decision 63): a file has the highest epoch seen so
 * far, which is compared under a lock that is held until the change is done.
 */
export class EpochGuard {
  readonly #temporaryDirectory: string;
  /** Queues the changes of this process; the lock queues those of other processes. */
  readonly #turns = new Turns();
  #identity: ProcessIdentity | undefined;

  constructor(temporaryDirectory: string) {
    this.#temporaryDirectory = temporaryDirectory;
  }

  /**
   * Does `work` while no other process changes anything for the session.
   *
   * @throws {WorkspaceError} `stale_epoch`: a newer host has the session
   */
  change<Result>(
    { session, epoch }: WorkspaceOwner,
    work: (folder: string) => Result | Promise<Result>,
  ): Promise<Result> {
    return this.#turns.take(session, () =>
      this.#locked(durableFolder(this.#temporaryDirectory, session), epoch, work),
    );
  }

  async #locked<Result>(
    folder: string,
    epoch: number,
    work: (folder: string) => Result | Promise<Result>,
  ): Promise<Result> {
    const path = `${folder}/lock`;
    this.#identity ??= ownIdentity();
    const holder: Holder = { ...this.#identity, epoch, token: randomHex(8) };
    await take(path, holder);
    try {
      claim(`${folder}/epoch`, epoch);
      return await work(folder);
    } finally {
      // A holder that was taken for dead has lost the lock.
      if (readHolder(path)?.token === holder.token) rmSync(path, { force: true });
    }
  }
}

/** @throws {WorkspaceError} `stale_epoch` */
function claim(path: string, epoch: number): void {
  const text = attempt(() => readFileSync(path, "utf8"));
  const highest = text === undefined ? 0 : Number(text);
  if (!(epoch >= highest)) throw new WorkspaceError("stale_epoch");
  if (epoch === highest) return;
  const made = `${path}.${randomHex(4)}`;
  writeFileSync(made, String(epoch), { mode: 0o600 });
  renameSync(made, path);
}

async function take(path: string, own: Holder): Promise<void> {
  const made = `${path}.${own.token}`;
  writeFileSync(made, JSON.stringify(own), { mode: 0o600 });
  const since = performance.now();
  try {
    for (;;) {
      if (linked(made, path)) return;
      const waited = performance.now() - since;
      const holder = readHolder(path);
      if (holder !== undefined && !isAlive(holder)) removeDead(path, own);
      else if (holder !== undefined && waited > graceMs) endOlder(holder, own);
      if (waited > waitMs) throw new WorkspaceError("failed", `Another process keeps ${path}`);
      await pause(pollMs);
    }
  } finally {
    rmSync(made, { force: true });
  }
}

/** Kills an older host that was paused during a change: it would continue with it. */
function endOlder(holder: Holder, own: Holder): void {
  if (holder.epoch >= own.epoch || holder.pid === process.pid) return;
  attempt(() => process.kill(holder.pid, "SIGKILL"));
}

/**
 * Only one process at a time may do this: if two find the holder dead, the second would remove the lock of the first.
 */
function removeDead(path: string, own: Holder): void {
  const guard = `${path}.dead`;
  const made = `${path}.${own.token}`;
  if (!linked(made, guard)) {
    const other = readHolder(guard);
    if (other !== undefined && !isAlive(other)) rmSync(guard, { force: true });
    return;
  }
  const holder = readHolder(path);
  if (holder !== undefined && !isAlive(holder)) rmSync(path, { force: true });
  rmSync(guard, { force: true });
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function readHolder(path: string): Holder | undefined {
  const value: unknown = attempt(() => JSON.parse(readFileSync(path, "utf8")));
  return isJsonObject(value) ? (value as unknown as Holder) : undefined;
}
