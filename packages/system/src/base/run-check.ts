import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { within } from "./within.ts";

/** The result of one check. */
interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly reason?: string;
}

/** Runs a check of code that may throw anything or never end. Never rejects. */
export async function runCheck(
  name: string,
  limitMs: number,
  check: () => Promise<void>,
): Promise<CheckResult> {
  try {
    if (limitMs <= 0) throw new Error("there was no time left for this check");
    await endsWithin(limitMs, check);
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, reason: reasonOf(error) };
  }
}

/** @throws {Error} the error of the work, or a timeout */
export function endsWithin<Value>(limitMs: number, work: () => Promise<Value>): Promise<Value> {
  const running = Promise.resolve().then(work);
  running.catch(() => undefined);
  return within(limitMs, running, () => {
    throw new Error(`it did not end within ${Math.ceil(limitMs / 1000)} seconds`);
  });
}

/** The text of anything thrown, even if it cannot be converted to a string. */
export function reasonOf(error: unknown): string {
  try {
    return errorMessage(error) || "it failed without a reason";
  } catch {
    return "it failed with an error that has no text";
  }
}
