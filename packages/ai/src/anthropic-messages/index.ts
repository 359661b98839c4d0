import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { Provider } from "../provider.ts";
import { Prefixes } from "../request/prefixes.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { classify } from "./errors.ts";
import { openStream } from "./open.ts";
import { encodeRequest } from "./request.ts";
import { createReducer } from "./response.ts";
import { anthropicPrefixWire } from "./setup.ts";
import type { AnthropicRequest } from "./wire-types.ts";

/** The Messages API of Anthropic and compatible servers. */
export function createAnthropicMessages(): Provider<AnthropicRequest, RawMessageStreamEvent> {
  const memory = new RequestMemory();
  const prefixes = new Prefixes(anthropicPrefixWire);
  const sent = new WeakMap<AnthropicRequest, string>();
  return {
    api: "anthropic-messages",
    endsAtStop: true,
    encode(model, context, options) {
      const encoded = encodeRequest(model, context, options, memory, prefixes);
      const { prefix } = encoded;
      // An extension that sees the payload may change it, but parts of the original are sent again later.
      const request = options.onPayload ? structuredClone(encoded.request) : encoded.request;
      sent.set(request, prefix);
      return request;
    },
    open: (model, request, options) => openStream(model, request, options, memory),
    remember(request, reply) {
      const prefix = sent.get(request);
      if (prefix !== undefined) prefixes.remember(prefix, reply);
    },
    reduce: createReducer,
    classify,
    // Anthropic accepts more images if the window is larger than 200 000 tokens. The rest of the 32 MB limit
    // for a request is reserved for everything else.
    imageLimits: ({ provider, contextWindow }) => ({
      count: provider === "anthropic" && contextWindow > 200_000 ? 600 : 100,
      bytes: 24_000_000,
    }),
    normalizeToolCallId: (id) => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
  };
}
