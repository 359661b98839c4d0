import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { randomHex } from "@tau-agent/system";
import type { LeaseRecord } from "../common/lease-record.ts";
import { isInTime, type LeaseTime } from "./lease-time.ts";
import { isLivingOwner } from "./process-owner.ts";

export interface FileLease extends LeaseRecord, LeaseTime {
  /** The content of the lock file that keeps out hosts without a store. */
  readonly lock?: string | undefined;
}

/** The newest lease of a key; undefined if there never was one. */
export function readLease(path: string): FileLease | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return JSON.parse(text) as FileLease;
}

/** Replaces the file in one step: with a partial file, tokens would start again. */
export function writeLease(path: string, lease: FileLease): void {
  const draft = `${path}.${randomHex(6)}`;
  writeFileSync(draft, JSON.stringify(lease), { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}

/** Whether a lease keeps others out: until it expires, or as long as the process it names lives. */
export function holdsOut(lease: FileLease | undefined): boolean {
  if (lease === undefined || lease.isReleased) return false;
  return isInTime(lease) || isLivingOwner(lease.owner);
}
