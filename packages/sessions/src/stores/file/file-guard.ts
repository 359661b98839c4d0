import { linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { attempt, errorCode, randomHex } from "@tau-agent/system";
import { SessionStoreError } from "../../log/store/session-store.ts";
import { isLivingOwner, processOwner } from "./process-owner.ts";

const POLL_MS = 5;
const PATIENCE_MS = 10_000;
/** Removing a dead owner's guard is quick: a process that has not finished after this time has died. */
const STEALING_MS = 10_000;

/**
 * Does work in only one process at a time, so that conditions checked in it still hold when it writes.
 * The work is synchronous, so calls within a process keep their order. A process that is stopped in
 * the middle keeps the others out; one that has died does not.
 *
 * @throws {SessionStoreError} `unavailable` when another process does not finish
 */
export async function guarded<T>(path: string, work: () => T): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!take(path)) {
    removeDead(path);
    if (take(path)) break;
    if (performance.now() > deadline) {
      throw new SessionStoreError("unavailable", `another process does not let go of ${path}`);
    }
    await delay(POLL_MS);
  }
  try {
    return work();
  } finally {
    remove(path);
  }
}

/** A link appears together with its content, so no process reads a partial file. */
function take(path: string): boolean {
  const draft = `${path}.${randomHex(6)}`;
  writeFileSync(draft, processOwner(), { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    remove(draft);
  }
}

function removeDead(path: string): void {
  if (!isDead(path)) return;
  const stealing = `${path}.stealing`;
  if (!take(stealing)) {
    const since = statSync(stealing, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // Also if the clock was set back since.
    if (Math.abs(Date.now() - since) > STEALING_MS) remove(stealing);
    return;
  }
  // Checked again, because the guard may belong to another process by now.
  if (isDead(path)) remove(path);
  remove(stealing);
}

function isDead(path: string): boolean {
  return attempt(() => !isLivingOwner(readFileSync(path, "utf8"))) ?? false;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}
