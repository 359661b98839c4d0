import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { CompletionsChunk } from "../openai-completions/chunk.ts";
import { mistralCompat, resolveCompletionsCompat } from "../openai-completions/compat.ts";
import { createOpenaiCompletions } from "../openai-completions/index.ts";
import type { CompletionsRequest } from "../openai-completions/request.ts";
import type { Provider } from "../provider.ts";

/**
 * Mistral's chat format. It differs from chat completions: thinking is a part of the content, in both directions; call
 * ids have exactly nine letters or digits; and the request members for thinking are different.
 */
export function createMistralConversations(): Provider<CompletionsRequest, CompletionsChunk> {
  const completions = createOpenaiCompletions();
  return {
    ...completions,
    api: "mistral-conversations",
    encode: (model, context, options) => completions.encode(asMistral(model), context, options),
    open: (model, request, options) => completions.open(asMistral(model), request, options),
    address: ({ baseUrl }) => withVersion(baseUrl),
    imageLimits: (model) => {
      const { maxImages: count, maxImageBytes: bytes } = resolveCompletionsCompat(asMistral(model));
      return { count, bytes };
    },
  };
}

/** The model with all deviations of Mistral's servers, wherever they run. */
function asMistral(model: Model): Model {
  return {
    ...model,
    baseUrl: withVersion(model.baseUrl),
    compat: { ...mistralCompat, supportsReasoningEffort: !isMagistral(model), ...model.compat },
    thinkingLevelMap: model.thinkingLevelMap ?? efforts,
  };
}

/** Models before the effort parameter always think and refuse the parameter. */
function isMagistral({ id, thinkingLevelMap }: Model): boolean {
  return /magistral/.test(id) && thinkingLevelMap === undefined;
}

/** The levels that Mistral's own models accept, unless the catalogue lists more. */
const efforts: Partial<Record<ThinkingLevel, string>> = {
  off: "none",
  minimal: "high",
  low: "high",
  medium: "high",
  high: "high",
  xhigh: "high",
  max: "high",
};

/** Catalogues and pi's files name only the server, without the version. */
function withVersion(baseUrl: string): string {
  const isBare = URL.canParse(baseUrl) && new URL(baseUrl).pathname === "/";
  return isBare ? `${baseUrl.replace(/\/+$/, "")}/v1` : baseUrl;
}
