import type { Model } from "@tau-agent/rpc-protocol/messages";
import { keepsAnHour } from "./anthropic-messages/host.ts";
import { familyOf } from "./bedrock-converse-stream/model-family.ts";
import type { CacheRetention, StreamOptions } from "./provider.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The OpenAI models that only support extended prompt caching. */
const keepsLong = /^gpt-5\.5/;

/**
 * The longest time for which a vendor keeps an unused prompt, in ms; 0 if it keeps none, undefined if it does
 * not publish the time.
 */
export function cacheLifetimeMs(model: Model, retention: CacheRetention): number | undefined {
  const { api, id, compat } = model;
  // Claude on any server: prompts are kept as long as cache marks request.
  if (hasMarks(model)) {
    if (retention === "none") return 0;
    return retention === "long" && takesHours(model) ? hour : 5 * minute;
  }
  // "Up to one hour" in memory.
  if (api.startsWith("openai-") || api.startsWith("azure-openai-")) {
    if (!isOpenAi(model)) return undefined;
    const isLong = retention === "long" && compat?.supportsLongCacheRetention !== false;
    return isLong || keepsLong.test(id) ? day : hour;
  }
  // "Within 24 hours."
  return api.startsWith("google-") ? day : undefined;
}

/**
 * The maximum reply length in tokens for a request that only renews the cache (`renewsCache`); undefined if a
 * request cannot renew it, because the vendor promises no lifetime or does not restart it with each use.
 */
export async function renewalTokens(
  model: Model,
  options: StreamOptions,
): Promise<number | undefined> {
  // A chat-completions gateway derives the thinking budget, on which the cache depends, from the limit.
  if (!hasMarks(model) || model.api === "openai-completions") return undefined;
  const renewing = { ...options, renewsCache: true };
  if (model.api === "bedrock-converse-stream") {
    if (!familyOf(model).isClaude) return undefined;
    const { limitsOf } = await import("./bedrock-converse-stream/thinking.ts");
    return limitsOf(model, renewing, true).inferenceConfig.maxTokens;
  }
  const [{ limitsOf }, { onVertex }] = await Promise.all([
    import("./anthropic-messages/thinking.ts"),
    import("./anthropic-vertex/model.ts"),
  ]);
  const shown = model.api === "anthropic-vertex" ? onVertex(model) : model;
  return limitsOf(shown, renewing).request.max_tokens;
}

/** Whether requests mark what to cache. */
function hasMarks(model: Model): boolean {
  const { api, compat } = model;
  if (api === "anthropic-messages" || api === "anthropic-vertex") return true;
  if (api === "openai-completions") return compat?.cacheControlFormat === "anthropic";
  if (api !== "bedrock-converse-stream") return false;
  return (compat?.supportsCachePoints ?? familyOf(model).isClaude) === true;
}

/** Whether cache marks may request one hour. */
function takesHours(model: Model): boolean {
  if (model.api === "bedrock-converse-stream") return familyOf(model).cachesLong;
  if (model.api === "openai-completions") return model.compat?.supportsLongCacheRetention !== false;
  return keepsAnHour(model);
}

function isOpenAi({ provider, baseUrl }: Model): boolean {
  return (
    provider.startsWith("openai") || provider.startsWith("azure-") || /\bopenai\b/.test(baseUrl)
  );
}
