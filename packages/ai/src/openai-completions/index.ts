import { classifyOpenAiError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import type { CompletionsChunk } from "./chunk.ts";
import { resolveCompletionsCompat } from "./compat.ts";
import { normalizeToolCallId } from "./messages.ts";
import { openStream } from "./open.ts";
import { type CompletionsRequest, encodeRequest } from "./request.ts";
import { createReducer } from "./response.ts";

/** Chat completions, as OpenAI defined them and many servers speak them. */
export const openaiCompletions: Provider<CompletionsRequest, CompletionsChunk> = {
  api: "openai-completions",
  encode: encodeRequest,
  open: openStream,
  reduce: createReducer,
  classify: classifyOpenAiError,
  imageLimits: (model) => {
    const { maxImages: count, maxImageBytes: bytes } = resolveCompletionsCompat(model);
    return { count, bytes };
  },
  normalizeToolCallId,
};
