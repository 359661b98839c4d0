/** After this time, a line reports what a job waits for. */
const NOTICE_MS = 10_000;
const AGAIN_MS = 60_000;
/** A waiting job is checked far more often than this, so a longer gap starts a new wait. */
const GAP_MS = 60_000;
const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 5_000;

interface Wait {
  readonly since: number;
  seenAt: number;
  noticeAt: number;
}

/** The jobs that this worker delayed because their session is in use. */
export class WaitingJobs {
  readonly #report: (line: string) => void;
  readonly #waits = new Map<string, Wait>();

  /** @param report - receives a line for the operator */
  constructor(report: (line: string) => void) {
    this.#report = report;
  }

  /** Notes that a job waits, and returns how long it has waited so far, in milliseconds. */
  note(id: string, what: string): number {
    const now = performance.now();
    const known = this.#waits.get(id);
    const isSame = known !== undefined && now - known.seenAt < GAP_MS;
    const wait = isSame ? known : { since: now, seenAt: now, noticeAt: now + NOTICE_MS };
    this.#waits.set(id, wait);
    wait.seenAt = now;
    const waitedMs = now - wait.since;
    if (now >= wait.noticeAt) {
      wait.noticeAt = now + AGAIN_MS;
      this.#report(`job ${id}: waits for ${what} (${Math.round(waitedMs / 1_000)} s)`);
    }
    return waitedMs;
  }

  forget(id: string): void {
    this.#waits.delete(id);
  }
}

/** The delay until the next attempt, given how long a job has waited: each attempt may start a host. */
export function nextLookMs(waitedMs: number): number {
  return Math.min(Math.max(FIRST_DELAY_MS, waitedMs / 4), MAX_DELAY_MS);
}
