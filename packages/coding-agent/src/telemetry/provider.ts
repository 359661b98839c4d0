import { ProxyTracerProvider, trace } from "@opentelemetry/api";

/** What is registered, by this or another copy of the API. */
function registered(): object {
  const provider: object = trace.getTracerProvider();
  if (!("getDelegate" in provider) || typeof provider.getDelegate !== "function") return provider;
  return provider.getDelegate() as object;
}

/** Whether the program has registered a provider. */
export function hasProvider(): boolean {
  // Unregistered, the delegate is the one that a new proxy has.
  return registered() !== new ProxyTracerProvider().getDelegate();
}

/** Waits until the provider has exported what it has, at most this long; what goes wrong is its own matter. */
export async function flushProvider(limitMs: number): Promise<void> {
  const provider = registered();
  if (limitMs === 0 || !("forceFlush" in provider)) return;
  const { forceFlush } = provider;
  if (typeof forceFlush !== "function") return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  const flushed = Promise.resolve(forceFlush.call(provider)).then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([flushed, late]);
  clearTimeout(timer);
}
