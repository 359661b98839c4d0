import type { Model } from "@tau-agent/rpc-protocol/messages";
import { keepsAnHour } from "./anthropic-messages/host.ts";
import { familyOf } from "./bedrock-converse-stream/model-family.ts";
import type { CacheRetention, StreamOptions } from "./provider.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The models of OpenAI that keep prompts only the long way. */
const keepsLong = /^gpt-5\.5/;

/**
 * The longest time for which a vendor keeps a prompt that is not used again, in ms; 0 where nothing is
 * kept, undefined where the vendor does not publish it.
 */
export function cacheLifetimeMs(model: Model, retention: CacheRetention): number | undefined {
  const { api, id, compat } = model;
  // Claude, by whatever way: prompts are kept as marks ask for it.
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
 * The most tokens of the reply to a request that only renews the cache (`renewsCache`); undefined where no
 * request does that: the vendor promises no lifetime, or does not begin it again with each use.
 */
export async function renewalTokens(
  model: Model,
  options: StreamOptions,
): Promise<number | undefined> {
  // A gateway of chat completions makes the thinking budget, on which the cache depends, of the limit.
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

/** Whether requests mark what is to be kept. */
function hasMarks(model: Model): boolean {
  const { api, compat } = model;
  if (api === "anthropic-messages" || api === "anthropic-vertex") return true;
  if (api === "openai-completions") return compat?.cacheControlFormat === "anthropic";
  if (api !== "bedrock-converse-stream") return false;
  return (compat?.supportsCachePoints ?? familyOf(model).isClaude) === true;
}

/** Whether marks may ask for an hour. */
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
