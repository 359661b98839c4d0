import { classifyOpenAiError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { CompletionsChunk } from "./chunk.ts";
import { resolveCompletionsCompat } from "./compat.ts";
import { normalizeToolCallId } from "./messages.ts";
import { openStream } from "./open.ts";
import { type CompletionsRequest, encodeRequest } from "./request.ts";
import { createReducer } from "./response.ts";

/** Chat completions, as OpenAI defined them and many servers speak them. */
export function createOpenaiCompletions(): Provider<CompletionsRequest, CompletionsChunk> {
  const memory = new RequestMemory();
  return {
    api: "openai-completions",
    encode: (model, context, options) => encodeRequest(model, context, options, memory),
    open: (model, request, options) => openStream(model, request, options, memory),
    reduce: createReducer,
    classify: classifyOpenAiError,
    imageLimits: (model) => {
      const { maxImages: count, maxImageBytes: bytes } = resolveCompletionsCompat(model);
      return { count, bytes };
    },
    normalizeToolCallId,
  };
}
