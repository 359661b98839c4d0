import { classifyOpenAiError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import type { ResponsesEvent } from "./events.ts";
import { normalizeToolCallId } from "./input.ts";
import { openStream } from "./open.ts";
import { encodeRequest, type ResponsesRequest } from "./request.ts";
import { createReducer } from "./response.ts";

/** OpenAI's Responses format. */
export const openaiResponses: Provider<ResponsesRequest, ResponsesEvent> = {
  api: "openai-responses",
  endsAtStop: true,
  encode: encodeRequest,
  open: openStream,
  reduce: createReducer,
  classify: classifyOpenAiError,
  // Of the 50 MB of a request, the rest is for everything else.
  imageLimits: () => ({ count: 500, bytes: 40_000_000 }),
  normalizeToolCallId,
};
