import { cloudVendors } from "./cloud-vendors.ts";
import { asksGoogleToThink, asksToThink, knowsOnly } from "./thinking-words.ts";
import type { KeyPlace, Vendor, VendorRule } from "./vendor.ts";
import {
  needsHeader,
  needsLimit,
  needsThinkingOfCalls,
  noDeveloper,
  noEmptyTools,
  noThinkingInHistory,
  refuses,
} from "./vendor-rules.ts";

const bearer: KeyPlace = { header: "authorization", scheme: "Bearer" };
const cloudflareKey: KeyPlace = { header: "cf-aig-authorization", scheme: "Bearer" };
const anthropicKey: KeyPlace = { header: "x-api-key" };

/** Members that only OpenAI's own chat completions accept. */
const onlyOpenAi: readonly VendorRule[] = [
  noDeveloper,
  noEmptyTools,
  refuses("store", "prompt_cache_retention"),
];
const oldLimit = refuses("max_completion_tokens");

type Row = Pick<Vendor, "provider" | "url"> & { readonly rules?: readonly VendorRule[] };

function completions({ provider, url, rules = [] }: Row, keys = [bearer]): Vendor {
  const api = "openai-completions";
  return { provider, api, url, keys, rules: [...onlyOpenAi, ...rules], thinks: asksToThink };
}

function responses({ provider, url, rules = [] }: Row, keys = [bearer]): Vendor {
  return { provider, api: "openai-responses", url, keys, rules, thinks: asksToThink };
}

function messages({ provider, url, rules = [] }: Row, keys = [anthropicKey]): Vendor {
  return { provider, api: "anthropic-messages", url, keys, rules, thinks: asksToThink };
}

function google({ provider, url, rules = [] }: Row): Vendor {
  const keys = [{ header: "x-goog-api-key" }];
  return { provider, api: "google-generative-ai", url, keys, rules, thinks: asksGoogleToThink };
}

const moonshot = [needsLimit, oldLimit, knowsOnly("thinking", "reasoning_effort")];
const qwen = [knowsOnly("enable_thinking", "reasoning_effort")];
const xiaomi = [knowsOnly("thinking"), needsThinkingOfCalls];
const zai = [oldLimit, knowsOnly("thinking", "reasoning_effort")];
const opencode = "https://opencode.ai/inference";
const gateway = "https://gateway.ai.cloudflare.com/v1/account/gateway";
const plans = "maas.aliyuncs.com/compatible-mode/v1/chat/completions";

/** The endpoints that a loopback server can simulate. */
export const vendors: readonly Vendor[] = [
  ...cloudVendors,
  messages({ provider: "anthropic", url: "https://api.anthropic.com/v1/messages" }),
  messages({ provider: "fireworks", url: "https://api.fireworks.ai/inference/v1/messages" }),
  messages({ provider: "minimax", url: "https://api.minimax.io/anthropic/v1/messages" }),
  messages({ provider: "minimax-cn", url: "https://api.minimaxi.com/anthropic/v1/messages" }),
  messages({ provider: "opencode", url: `${opencode}/anthropic/v1/messages` }),
  messages({ provider: "opencode-go", url: `${opencode}/go/anthropic/v1/messages` }),
  messages({ provider: "openrouter", url: "https://openrouter.ai/api/v1/messages" }),
  messages({ provider: "vercel-ai-gateway", url: "https://ai-gateway.vercel.sh/v1/messages" }),
  messages({ provider: "cloudflare-ai-gateway", url: `${gateway}/anthropic/v1/messages` }, [
    cloudflareKey,
  ]),
  responses({ provider: "openai", url: "https://api.openai.com/v1/responses" }),
  responses({ provider: "meta", url: "https://api.meta.ai/v1/responses" }),
  responses({ provider: "xai", url: "https://api.x.ai/v1/responses" }),
  responses({ provider: "opencode", url: `${opencode}/openai/v1/responses` }),
  responses({ provider: "opencode-go", url: `${opencode}/go/openai/v1/responses` }),
  responses({ provider: "cloudflare-ai-gateway", url: `${gateway}/openai/responses` }, [
    cloudflareKey,
  ]),
  google({
    provider: "google",
    url: "https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent",
  }),
  google({
    provider: "opencode",
    url: `${opencode}/google/v1beta/models/{model}:streamGenerateContent`,
  }),
  google({
    provider: "opencode-go",
    url: `${opencode}/go/google/v1beta/models/{model}:streamGenerateContent`,
  }),
  completions({
    provider: "ant-ling",
    url: "https://api.ant-ling.com/v1/chat/completions",
    rules: [needsLimit, oldLimit, knowsOnly("reasoning")],
  }),
  completions({
    provider: "baseten",
    url: "https://inference.baseten.co/v1/chat/completions",
    rules: [oldLimit, knowsOnly("reasoning_effort", "chat_template_args")],
  }),
  completions({
    provider: "cerebras",
    url: "https://api.cerebras.ai/v1/chat/completions",
    rules: [refuses("stream_options"), noThinkingInHistory, knowsOnly("reasoning_effort")],
  }),
  completions(
    {
      provider: "cloudflare-ai-gateway",
      url: `${gateway}/compat/chat/completions`,
      rules: [needsLimit, knowsOnly("thinking")],
    },
    [cloudflareKey],
  ),
  completions({
    provider: "cloudflare-workers-ai",
    url: "https://api.cloudflare.com/client/v4/accounts/account/ai/v1/chat/completions",
    rules: [needsLimit, knowsOnly("thinking", "reasoning_effort")],
  }),
  completions({
    provider: "deepseek",
    url: "https://api.deepseek.com/chat/completions",
    rules: [oldLimit, needsThinkingOfCalls, knowsOnly("thinking", "reasoning_effort")],
  }),
  completions({
    provider: "fireworks",
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    rules: [oldLimit, needsHeader("x-session-affinity", /./), knowsOnly("reasoning_effort")],
  }),
  completions({
    provider: "groq",
    url: "https://api.groq.com/openai/v1/chat/completions",
    rules: [knowsOnly("reasoning_effort")],
  }),
  completions({
    provider: "huggingface",
    url: "https://router.huggingface.co/v1/chat/completions",
    rules: [oldLimit, knowsOnly("reasoning_effort")],
  }),
  completions({
    provider: "kimi-coding",
    url: "https://api.kimi.com/coding/v1/chat/completions",
    rules: moonshot,
  }),
  completions({
    provider: "moonshotai",
    url: "https://api.moonshot.ai/v1/chat/completions",
    rules: moonshot,
  }),
  completions({
    provider: "moonshotai-cn",
    url: "https://api.moonshot.cn/v1/chat/completions",
    rules: moonshot,
  }),
  completions({
    provider: "nvidia",
    url: "https://integrate.api.nvidia.com/v1/chat/completions",
    rules: [oldLimit, needsHeader("nvcf-poll-seconds", /^\d+$/), knowsOnly("thinking")],
  }),
  completions({
    provider: "opencode",
    url: `${opencode}/openai/v1/chat/completions`,
    rules: [oldLimit, knowsOnly("reasoning_effort", "thinking")],
  }),
  completions({
    provider: "opencode-go",
    url: `${opencode}/go/openai/v1/chat/completions`,
    rules: [oldLimit, knowsOnly("reasoning_effort", "thinking")],
  }),
  completions({
    provider: "openrouter",
    url: "https://openrouter.ai/api/v1/chat/completions",
    rules: [needsHeader("x-session-id", /./), knowsOnly("reasoning")],
  }),
  completions({
    provider: "qwen-token-plan",
    url: `https://token-plan.ap-southeast-1.${plans}`,
    rules: qwen,
  }),
  completions({
    provider: "qwen-token-plan-cn",
    url: `https://token-plan.cn-beijing.${plans}`,
    rules: qwen,
  }),
  completions({
    provider: "qwen-token-plan-individual",
    url: `https://token-plan.ap-southeast-1.${plans}`,
    rules: qwen,
  }),
  completions({
    provider: "qwen-token-plan-individual-cn",
    url: `https://token-plan.cn-beijing.${plans}`,
    rules: qwen,
  }),
  completions({
    provider: "together",
    url: "https://api.together.ai/v1/chat/completions",
    rules: [oldLimit, knowsOnly("reasoning", "reasoning_effort")],
  }),
  ...["api", "token-plan-ams", "token-plan-cn", "token-plan-sgp"].map((name) =>
    completions({
      provider: name === "api" ? "xiaomi" : `xiaomi-${name}`,
      url: `https://${name}.xiaomimimo.com/v1/chat/completions`,
      rules: xiaomi,
    }),
  ),
  completions({
    provider: "zai",
    url: "https://api.z.ai/api/coding/paas/v4/chat/completions",
    rules: zai,
  }),
  completions({
    provider: "zai-coding-cn",
    url: "https://open.bigmodel.cn/api/coding/paas/v4/chat/completions",
    rules: zai,
  }),
];
