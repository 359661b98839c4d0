import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** The largest difference between the clocks of machines that share a folder. */
const SKEW_MS = 60_000;

/** When a lease ends, in a form that survives changes to the system clock. */
export interface LeaseTime {
  /** In milliseconds since the epoch, for other machines and for people. */
  readonly expiresAt: number;
  /** The granted duration; absent in leases of earlier hosts. */
  readonly ttlMs?: number | undefined;
  /** The same moment on the monotonic clock of this machine, which runs since it was started. */
  readonly uptime?: { readonly boot: string; readonly until: number } | undefined;
}

export function endsIn(ttlMs: number): Required<LeaseTime> {
  const uptime = { boot: bootOfMachine(), until: uptimeMs() + ttlMs };
  return { expiresAt: Date.now() + ttlMs, ttlMs, uptime };
}

export function isInTime({ expiresAt, ttlMs = Infinity, uptime }: LeaseTime): boolean {
  const isOfToday = uptime?.boot === bootOfMachine();
  const left = isOfToday ? uptime.until - uptimeMs() : expiresAt - Date.now();
  // More time left than was granted: a clock was set back, or restarted.
  return left > 0 && left <= ttlMs + (isOfToday ? 0 : SKEW_MS);
}

/** A clock shared by all processes of a machine, which cannot be set. */
function uptimeMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * Identifies the clock of {@link uptimeMs}: other machines have different ones, and so does this one after a restart.
 */
function bootOfMachine(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // On other systems a restart shows in the clock: an older lease would have more time left than was granted.
    return `host ${hostname()}`;
  }
}
