import { classify } from "../google-generative-ai/errors.ts";
import { sendRequest } from "../google-generative-ai/open.ts";
import { encodeRequest, type GoogleRequest } from "../google-generative-ai/request.ts";
import { createReducer, type GoogleChunk } from "../google-generative-ai/response.ts";
import type { Provider } from "../provider.ts";
import { LastMade } from "../request/last-made.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { keyOf, vertexHeaders } from "../vertex/vertex-auth.ts";
import { vertexAddress, vertexPlace } from "../vertex/vertex-place.ts";

/** Gemini on Google's Vertex AI: under a project's own address, with streamed arguments. */
export function createGoogleVertex(): Provider<GoogleRequest, GoogleChunk> {
  const memory = new RequestMemory();
  const clients = new LastMade();
  return {
    api: "google-vertex",
    encode: (model, context, options) => encodeRequest(model, context, options, memory),
    async open(model, request, options) {
      const { environment = {}, fetch = globalThis.fetch } = options;
      const { baseUrl } = vertexPlace(model, environment, keyOf(options));
      const auth = await vertexHeaders({ baseUrl, options, fetch, clients });
      const headers = { ...auth, ...model.headers, ...options.headers };
      return sendRequest(
        { vertexai: true, baseUrl, apiVersion: "", headers, fetch },
        request,
        options,
      );
    },
    address: (model, { environment = {} }) => vertexAddress(model, environment),
    reduce: createReducer,
    classify,
    // The rest of the 20 MB limit for a request is reserved for everything else.
    imageLimits: () => ({ bytes: 15_000_000 }),
    normalizeToolCallId: (id) => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
  };
}
