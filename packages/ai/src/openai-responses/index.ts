import { classifyOpenAiError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { ResponsesEvent } from "./events.ts";
import { normalizeToolCallId } from "./input.ts";
import { openStream } from "./open.ts";
import { encodeRequest, type ResponsesRequest } from "./request.ts";
import { createReducer } from "./response.ts";

/** OpenAI's Responses format. */
export function createOpenaiResponses(): Provider<ResponsesRequest, ResponsesEvent> {
  const memory = new RequestMemory();
  return {
    api: "openai-responses",
    endsAtStop: true,
    encode: (model, context, options) => encodeRequest(model, context, options, memory),
    open: (model, request, options) => openStream(model, request, options, memory),
    reduce: createReducer,
    classify: classifyOpenAiError,
    // Of the 50 MB of a request, the rest is for everything else.
    imageLimits: () => ({ count: 500, bytes: 40_000_000 }),
    normalizeToolCallId,
  };
}
