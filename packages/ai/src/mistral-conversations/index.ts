import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { CompletionsChunk } from "../openai-completions/chunk.ts";
import { mistralCompat, resolveCompletionsCompat } from "../openai-completions/compat.ts";
import { createOpenaiCompletions } from "../openai-completions/index.ts";
import type { CompletionsRequest } from "../openai-completions/request.ts";
import type { Provider } from "../provider.ts";

/**
 * Mistral's chat format: chat completions in which thinking is a part of the content and goes back as
 * one, ids of calls are nine letters or digits, and thinking is asked for in words of its own.
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

/** The model with everything that Mistral's servers differ in, wherever they are. */
function asMistral(model: Model): Model {
  return {
    ...model,
    baseUrl: withVersion(model.baseUrl),
    compat: { ...mistralCompat, supportsReasoningEffort: !isMagistral(model), ...model.compat },
    thinkingLevelMap: model.thinkingLevelMap ?? efforts,
  };
}

/** Those before the effort thought always, and refuse to be asked for it. */
function isMagistral({ id, thinkingLevelMap }: Model): boolean {
  return /magistral/.test(id) && thinkingLevelMap === undefined;
}

/** What Mistral's own models take, unless the catalogue knows more levels. */
const efforts: Partial<Record<ThinkingLevel, string>> = {
  off: "none",
  minimal: "high",
  low: "high",
  medium: "high",
  high: "high",
  xhigh: "high",
  max: "high",
};

/** Catalogues and pi's files name the server only. */
function withVersion(baseUrl: string): string {
  const isBare = URL.canParse(baseUrl) && new URL(baseUrl).pathname === "/";
  return isBare ? `${baseUrl.replace(/\/+$/, "")}/v1` : baseUrl;
}
