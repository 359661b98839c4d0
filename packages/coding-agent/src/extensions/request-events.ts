import type { StreamFunction } from "@tau-agent/ai";
import { askProviderRequest } from "./prompt-events.ts";
import type { ExtensionRunner } from "./runner.ts";

/** Shows extensions each request to a vendor, which they may replace, and the head of its response. */
export function withRequestEvents(
  stream: StreamFunction,
  runner: () => ExtensionRunner,
): StreamFunction {
  return (model, context, options) => {
    const current = runner();
    const hearsRequest = current.has("before_provider_request");
    const hearsResponse = current.has("after_provider_response");
    if (!hearsRequest && !hearsResponse) return stream(model, context, options);
    const fetch = options.fetch ?? globalThis.fetch;
    return stream(model, context, {
      ...options,
      onPayload: async (payload) => {
        const given = (await options.onPayload?.(payload)) ?? payload;
        return askProviderRequest(current, given);
      },
      fetch: async (...request) => {
        const response = await fetch(...request);
        const headers = Object.fromEntries(response.headers);
        const { status } = response;
        await current.emit({ type: "after_provider_response", status, headers });
        return response;
      },
    });
  };
}
