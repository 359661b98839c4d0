import type { Model } from "@tau-agent/rpc-protocol/messages";
import { believable, type ModelFacts, membersOf } from "./model-facts.ts";

/** Where facts about all providers' models are published. */
export const factsUrl = "https://models.dev/api.json";

/** Our ids of providers → those of the source, where they differ. */
const otherIds: Readonly<Record<string, string>> = {
  fireworks: "fireworks-ai",
  "kimi-coding": "kimi-for-coding",
  together: "togetherai",
  "vercel-ai-gateway": "vercel",
  zai: "zai-coding-plan",
  "zai-coding-cn": "zhipuai-coding-plan",
};

/** The public source's facts about a provider's models; undefined if it does not have the provider. */
export function publishedFacts(source: unknown, provider: string): ModelFacts[] | undefined {
  const providers = membersOf(source);
  const id = Object.hasOwn(otherIds, provider) ? (otherIds[provider] ?? provider) : provider;
  if (!Object.hasOwn(providers, id)) return undefined;
  const { models } = membersOf(providers[id]);
  const all = Object.values(membersOf(models)).map(membersOf);
  // A session needs tools; a model without information about tools may support them.
  return believable(all.filter(({ tool_call }) => tool_call !== false).map(publishedModel));
}

function publishedModel(model: Readonly<Record<string, unknown>>): unknown {
  const { context, output } = membersOf(model.limit);
  const rates = membersOf(model.cost);
  const { input } = membersOf(model.modalities);
  const kinds = Array.isArray(input) ? input : ["text"];
  return {
    id: model.id,
    name: model.name,
    contextWindow: context,
    maxTokens: output,
    input: ["text", "image"].filter((kind) => kinds.includes(kind)),
    cost: {
      input: rates.input,
      output: rates.output,
      cacheRead: rates.cache_read ?? 0,
      cacheWrite: rates.cache_write ?? 0,
    },
  };
}

export function listUrl({ api, baseUrl }: Model): string {
  const base = baseUrl.replace(/\/+$/, "");
  return api === "anthropic-messages" && !base.endsWith("/v1")
    ? `${base}/v1/models`
    : `${base}/models`;
}

/** The facts in a provider's own list: `data` as for OpenAI and Anthropic, `models` as for Google. */
export function ownFacts(answer: unknown): ModelFacts[] | undefined {
  const { data, models } = membersOf(answer);
  const list = Array.isArray(data) ? data : Array.isArray(models) ? models : undefined;
  return list && believable(list.map(membersOf).filter(isForChat).map(ownModel));
}

function isForChat({
  id,
  name,
  supportedGenerationMethods: methods,
}: Record<string, unknown>): boolean {
  if (Array.isArray(methods) && !methods.includes("generateContent")) return false;
  const special =
    /embed|whisper|tts|audio|image|dall-e|moderation|rerank|realtime|transcri|batch|veo|sora/i;
  return !special.test(String(id ?? name));
}

function ownModel(model: Record<string, unknown>): unknown {
  const name = typeof model.name === "string" ? model.name.replace(/^models\//, "") : undefined;
  return {
    id: model.id ?? name,
    name: model.display_name ?? model.displayName,
    contextWindow: model.context_length ?? model.context_window ?? model.inputTokenLimit,
    maxTokens: model.outputTokenLimit ?? model.max_tokens,
  };
}
