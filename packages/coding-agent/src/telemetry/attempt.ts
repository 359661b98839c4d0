import { diag } from "@opentelemetry/api";

/**
 * What a call of somebody else's telemetry returns; undefined when it throws. A processor, an exporter or a
 * context manager that is broken must not end a run; the library's own diagnostics say that it is.
 */
export function attempt<Value>(call: () => Value): Value | undefined {
  try {
    return call();
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** {@link attempt} for a call that takes time. */
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
    // The logger is somebody else's, too.
  }
}
