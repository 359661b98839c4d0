import type { Provider } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { classify } from "./errors.ts";
import { openStream } from "./open.ts";
import { encodeRequest, type GoogleRequest } from "./request.ts";
import { createReducer, type GoogleChunk } from "./response.ts";

export function createGoogleGenerativeAi(): Provider<GoogleRequest, GoogleChunk> {
  const memory = new RequestMemory();
  return {
    api: "google-generative-ai",
    encode: (model, context, options) => encodeRequest(model, context, options, memory),
    open: openStream,
    reduce: createReducer,
    classify,
    // The rest of the 20 MB limit for a request is reserved for everything else.
    imageLimits: () => ({ bytes: 15_000_000 }),
    normalizeToolCallId: (id) => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
  };
}
