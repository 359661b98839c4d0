import { ProxyTracerProvider, trace } from "@opentelemetry/api";
import { within } from "@tau-agent/system";
import { attempt, attemptLater } from "./attempt.ts";

/** The provider that was registered through this or another copy of the API. */
function registered(): object {
  const provider: object = trace.getTracerProvider();
  if (!("getDelegate" in provider) || typeof provider.getDelegate !== "function") return provider;
  return provider.getDelegate() as object;
}

export function hasProvider(): boolean {
  // Without a registered provider, the delegate is the default one of a new proxy.
  return attempt(registered) !== new ProxyTracerProvider().getDelegate();
}

/** Waits until the provider has exported its spans, at most this long; errors are left to the provider. */
export async function flushProvider(limitMs: number): Promise<void> {
  if (limitMs !== 0) await within(limitMs, attemptLater(flush));
}

async function flush(): Promise<void> {
  const provider = registered();
  if ("forceFlush" in provider && typeof provider.forceFlush === "function") {
    await provider.forceFlush();
  }
}
