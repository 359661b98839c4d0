import { loadClient } from "../openai/client.ts";
import { classifyOpenAiError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import { Prefixes } from "../request/prefixes.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { ResponsesEvent } from "./events.ts";
import { normalizeToolCallId } from "./input.ts";
import { openStream } from "./open.ts";
import { encodeRequest, type ResponsesRequest } from "./request.ts";
import { createReducer } from "./response.ts";
import { responsesPrefixWire } from "./setup.ts";

export function createOpenaiResponses(): Provider<ResponsesRequest, ResponsesEvent> {
  const memory = new RequestMemory();
  const prefixes = new Prefixes(responsesPrefixWire);
  return {
    api: "openai-responses",
    endsAtStop: true,
    encode(model, context, options) {
      const request = encodeRequest(model, context, options, memory, prefixes);
      // An extension that sees the payload may change it, but parts of the original are sent again later.
      return options.onPayload ? structuredClone(request) : request;
    },
    load: loadClient,
    open: (model, request, options) => openStream(model, request, options, memory),
    reduce: createReducer,
    classify: classifyOpenAiError,
    // The rest of the 50 MB limit for a request is reserved for everything else.
    imageLimits: () => ({ count: 500, bytes: 40_000_000 }),
    normalizeToolCallId,
  };
}
