import { azureAddress, isAzure } from "../azure/azure-endpoint.ts";
import { loadClient } from "../openai/client.ts";
import { classifyOpenAiError } from "../openai/errors.ts";
import type { Provider } from "../provider.ts";
import { Prefixes } from "../request/prefixes.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { CompletionsChunk } from "./chunk.ts";
import { resolveCompletionsCompat } from "./compat.ts";
import { normalizeToolCallId } from "./messages.ts";
import { openStream } from "./open.ts";
import { type CompletionsRequest, encodeRequest } from "./request.ts";
import { createReducer } from "./response.ts";
import { completionsPrefixWire } from "./setup.ts";

/** Chat completions, as defined by OpenAI and supported by many servers. */
export function createOpenaiCompletions(): Provider<CompletionsRequest, CompletionsChunk> {
  const memory = new RequestMemory();
  const prefixes = new Prefixes(completionsPrefixWire);
  return {
    api: "openai-completions",
    encode(model, context, options) {
      const request = encodeRequest(model, context, options, memory, prefixes);
      // An extension that sees the payload may change it, but parts of the original are sent again later.
      return options.onPayload ? structuredClone(request) : request;
    },
    load: loadClient,
    open: (model, request, options) => openStream(model, request, options, memory),
    address: (model, { environment = {} }) =>
      isAzure(model) ? azureAddress(model, environment) : undefined,
    reduce: createReducer,
    classify: classifyOpenAiError,
    imageLimits: (model) => {
      const { maxImages: count, maxImageBytes: bytes } = resolveCompletionsCompat(model);
      return { count, bytes };
    },
    normalizeToolCallId,
  };
}
