import type { StreamFunction } from "@tau-agent/ai";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { askProviderRequest } from "./prompt-events.ts";
import type { ExtensionRunner } from "./runner.ts";

/**
 * Reports to extensions each request to a vendor, which they may replace, the head of its response,
 * and the events of its stream.
 */
export function withRequestEvents(
  stream: StreamFunction,
  runner: () => ExtensionRunner,
): StreamFunction {
  return (model, context, options) => {
    const current = runner();
    const hearsRequest = current.has("before_provider_request");
    const hearsResponse = current.has("after_provider_response");
    const hearsStream = current.has("provider_stream_event");
    if (!hearsRequest && !hearsResponse && !hearsStream) return stream(model, context, options);
    const fetch = options.fetch ?? globalThis.fetch;
    const changePayload = async (payload: unknown): Promise<unknown> => {
      const given = (await options.onPayload?.(payload)) ?? payload;
      return askProviderRequest(current, given);
    };
    return stream(model, context, {
      ...options,
      ...(hearsRequest ? { onPayload: changePayload } : {}),
      fetch: async (...request) => {
        const response = await fetch(...request);
        const headers = Object.fromEntries(response.headers);
        const { status } = response;
        await current.emit({ type: "after_provider_response", status, headers });
        return response;
      },
      ...(hearsStream ? { onStreamEvent: (data) => tellStreamEvent(current, model, data) } : {}),
    });
  };
}

function tellStreamEvent(runner: ExtensionRunner, model: Model, data: unknown): Promise<void> {
  const { provider, api, id } = model;
  return runner.emit({ type: "provider_stream_event", provider, api, model: id, data });
}
