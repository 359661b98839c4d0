import { diag } from "@opentelemetry/api";

/**
 * The result of a call into a third-party telemetry library; undefined if it throws. A broken processor, exporter or
 * context manager must not end a run; the library's own diagnostics report it.
 */
export function attempt<Value>(call: () => Value): Value | undefined {
  try {
    return call();
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** {@link attempt} for an asynchronous call. */
export async function attemptLater(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    report(error);
  }
}

function report(error: unknown): void {
  try {
    diag.error("@tau-agent/coding-agent: telemetry failed", error);
  } catch {
    // The logger is third-party code as well.
  }
}
