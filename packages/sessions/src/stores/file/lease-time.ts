import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** How far the clocks of machines that share a folder may be apart. */
const SKEW_MS = 60_000;

/** When a lease ends, in a form that survives that the time is set. */
export interface LeaseTime {
  /** In milliseconds since the epoch, for other machines and for people. */
  readonly expiresAt: number;
  /** How long it was given for; absent in leases of earlier hosts. */
  readonly ttlMs?: number | undefined;
  /** The same moment on the clock that runs since this machine was started. */
  readonly uptime?: { readonly boot: string; readonly until: number } | undefined;
}

export function endsIn(ttlMs: number): Required<LeaseTime> {
  const uptime = { boot: bootOfMachine(), until: uptimeMs() + ttlMs };
  return { expiresAt: Date.now() + ttlMs, ttlMs, uptime };
}

export function isInTime({ expiresAt, ttlMs = Infinity, uptime }: LeaseTime): boolean {
  const isOfToday = uptime?.boot === bootOfMachine();
  const left = isOfToday ? uptime.until - uptimeMs() : expiresAt - Date.now();
  // More than it was given for: a clock was set back, or began again.
  return left > 0 && left <= ttlMs + (isOfToday ? 0 : SKEW_MS);
}

/** One clock for all processes of a machine, which nobody can set. */
function uptimeMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Tells the clocks of {@link uptimeMs} apart: those of other machines, and before a restart. */
function bootOfMachine(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // Elsewhere, the clock tells of a restart: a lease of before has more time left than it was given.
    return `host ${hostname()}`;
  }
}
