import { ProxyTracerProvider, trace } from "@opentelemetry/api";
import { within } from "@tau-agent/system";
import { attempt, attemptLater } from "./attempt.ts";

/** What is registered, by this or another copy of the API. */
function registered(): object {
  const provider: object = trace.getTracerProvider();
  if (!("getDelegate" in provider) || typeof provider.getDelegate !== "function") return provider;
  return provider.getDelegate() as object;
}

export function hasProvider(): boolean {
  // Unregistered, the delegate is the one that a new proxy has.
  return attempt(registered) !== new ProxyTracerProvider().getDelegate();
}

/** Waits until the provider has exported what it has, at most this long; what goes wrong is its own matter. */
export async function flushProvider(limitMs: number): Promise<void> {
  if (limitMs !== 0) await within(limitMs, attemptLater(flush));
}

async function flush(): Promise<void> {
  const provider = registered();
  if ("forceFlush" in provider && typeof provider.forceFlush === "function") {
    await provider.forceFlush();
  }
}
