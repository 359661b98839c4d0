import { setTimeout } from "node:timers/promises";
import { LoginRefused, LoginServerError } from "./token-request.ts";

/** A server's answer: what is still pending, or the result. */
type Polled<Result> =
  | { readonly kind: "pending" }
  | { readonly kind: "slow_down"; readonly intervalMs?: number | undefined }
  | { readonly kind: "done"; readonly result: Result };

interface PollOptions<Result> {
  readonly intervalMs: number;
  readonly expiresInMs: number;
  readonly signal: AbortSignal;
  readonly poll: () => Promise<Polled<Result>>;
}

/** A server that names no interval, or zero, is not asked more often than this. */
const leastIntervalMs = 200;
/** RFC 8628 adds this much when a server asks to slow down. */
const slowDownMs = 5_000;
/** How many failures in a row a login survives, as in a short outage of the server. */
const mostFailures = 5;

/**
 * Polls until the user has entered the code or the code has expired.
 *
 * @throws {LoginRefused} when the user refused or the code has expired
 */
export async function pollDevice<Result>(options: PollOptions<Result>): Promise<Result> {
  const { signal, poll, expiresInMs } = options;
  const deadline = performance.now() + expiresInMs;
  let intervalMs = Math.max(leastIntervalMs, options.intervalMs);
  let failures = 0;
  while (performance.now() < deadline) {
    const pauseMs = Math.min(intervalMs, Math.max(0, deadline - performance.now()));
    await setTimeout(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    try {
      const polled = await poll();
      failures = 0;
      if (polled.kind === "done") return polled.result;
      if (polled.kind === "slow_down") {
        intervalMs = Math.max(intervalMs, polled.intervalMs ?? intervalMs + slowDownMs);
      }
    } catch (error) {
      failures += 1;
      if (!(error instanceof LoginServerError) || failures > mostFailures) throw error;
    }
  }
  throw new LoginRefused("the code has expired before it was entered");
}
