import type { ConverseStreamOutput } from "@aws-sdk/client-bedrock-runtime";
import type { Provider } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { classify } from "./errors.ts";
import { openStream } from "./open.ts";
import { addressOf } from "./region.ts";
import { type BedrockRequest, encodeRequest } from "./request.ts";
import { createReducer } from "./response.ts";

/** Amazon Bedrock's Converse format, for models of all vendors. */
export function createBedrockConverseStream(): Provider<BedrockRequest, ConverseStreamOutput> {
  const memory = new RequestMemory();
  return {
    api: "bedrock-converse-stream",
    encode: (model, context, options) => encodeRequest(model, context, options, memory),
    open: (model, request, options) => openStream(model, request, options, memory),
    address: (model, { environment = {} }) => addressOf(model, environment),
    reduce: createReducer,
    classify,
    // The maximum number of images in a request; each may have 3.75 MB, all together 20 MB.
    imageLimits: () => ({ count: 20, bytes: 15_000_000 }),
    normalizeToolCallId: (id) => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
  };
}
