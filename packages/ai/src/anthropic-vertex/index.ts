import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { betasOf } from "../anthropic-messages/betas.ts";
import { createAnthropicMessages } from "../anthropic-messages/index.ts";
import { postForEvents, withBetas } from "../anthropic-messages/open.ts";
import type { AnthropicRequest } from "../anthropic-messages/wire-types.ts";
import type { Provider } from "../provider.ts";
import { LastMade } from "../request/last-made.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { keyOf, vertexHeaders } from "../vertex/vertex-auth.ts";
import { vertexAddress, vertexPlace } from "../vertex/vertex-place.ts";
import { onVertex } from "./model.ts";

const version = "vertex-2023-10-16";

/** Claude on Google's Vertex AI: Anthropic's format under the address of a Google Cloud project. */
export function createAnthropicVertex(): Provider<AnthropicRequest, RawMessageStreamEvent> {
  const memory = new RequestMemory();
  const clients = new LastMade();
  const messages = createAnthropicMessages();
  return {
    ...messages,
    api: "anthropic-vertex",
    encode: (model, context, options) => messages.encode(onVertex(model), context, options),
    async open(model, request, options) {
      const { environment = {}, fetch = globalThis.fetch } = options;
      const { baseUrl } = vertexPlace(model, environment, keyOf(options));
      const auth = await vertexHeaders({ baseUrl, options, fetch, clients });
      const given = { ...auth, ...model.headers, ...options.headers };
      const headers = withBetas(betasOf(request, { ...options, apiKey: "" }), given);
      // The URL path contains the model.
      const { model: name, ...rest } = request;
      const sent = { anthropic_version: version, ...rest };
      const path = `/publishers/anthropic/models/${encodeURIComponent(name)}:streamRawPredict`;
      const body = memory.body(sent, "messages", options);
      return postForEvents({ baseUrl, path, body, headers, fetch }, options, memory);
    },
    address: (model, { environment = {} }) => vertexAddress(model, environment),
  };
}
