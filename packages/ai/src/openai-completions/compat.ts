import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { AffinityCompat } from "../openai/affinity.ts";

const thinkingFormats = [
  "openai",
  "openrouter",
  "deepseek",
  "together",
  "baseten",
  "zai",
  "qwen",
  "qwen-chat-template",
  "chat-template",
  "string-thinking",
  "ant-ling",
] as const;

/** How a request tells the endpoint to think. */
export type ThinkingFormat = (typeof thinkingFormats)[number];

/** Deviations of an endpoint from OpenAI's chat completions. All are flags; only the table names vendors. */
export interface CompletionsCompat extends AffinityCompat {
  readonly supportsStore: boolean;
  readonly supportsDeveloperRole: boolean;
  readonly supportsReasoningEffort: boolean;
  readonly supportsUsageInStreaming: boolean;
  readonly supportsStrictMode: boolean;
  /** False if a reply without a finish reason counts as complete. */
  readonly supportsFinishReason: boolean;
  readonly supportsLongCacheRetention: boolean;
  readonly supportsPromptCacheKey: boolean;
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  /** Whether an output limit derived from the model is sent; not to servers that reserve tokens for it. */
  readonly sendsMaxTokens: boolean;
  readonly requiresToolResultName: boolean;
  readonly requiresAssistantAfterToolResult: boolean;
  readonly requiresThinkingAsText: boolean;
  readonly requiresNonNullAssistantContent: boolean;
  readonly requiresToolsWithToolHistory: boolean;
  readonly requiresReasoningContentOnAssistantMessages: boolean;
  /** Whether earlier thinking is sent back. */
  readonly replaysThinking: boolean;
  readonly thinkingFormat: ThinkingFormat;
  readonly thinkingTokenBudgetField: string | undefined;
  readonly chatTemplateKwargs: Readonly<Record<string, unknown>> | undefined;
  readonly chatTemplateArgs: Readonly<Record<string, unknown>> | undefined;
  readonly cacheControlFormat: "anthropic" | undefined;
  readonly openRouterRouting: Readonly<Record<string, unknown>> | undefined;
  readonly vercelGatewayRouting: Readonly<Record<string, unknown>> | undefined;
  /** `mistral`: exactly nine letters or digits. */
  readonly toolCallIdFormat: "openai" | "mistral";
  readonly zaiToolStream: boolean;
  /** Whether a later system message replaces earlier instructions. */
  readonly supportsMidConvoSystemMessages: boolean;
  /** Whether a later system message may add tools. */
  readonly supportsMidConvoToolAdditions: boolean;
  readonly vllmPriority: number | undefined;
  /** The maximum number of images in a request; undefined for no limit. */
  readonly maxImages: number | undefined;
  /** The maximum size of all images in a request, in bytes of base64; undefined for no limit. */
  readonly maxImageBytes: number | undefined;
}

/** The settings for an unknown endpoint: only the parts of the format that every server knows. */
const unknownEndpoint: CompletionsCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsReasoningEffort: true,
  supportsUsageInStreaming: true,
  supportsStrictMode: false,
  supportsFinishReason: true,
  supportsLongCacheRetention: true,
  supportsPromptCacheKey: false,
  maxTokensField: "max_tokens",
  sendsMaxTokens: false,
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  requiresThinkingAsText: false,
  requiresNonNullAssistantContent: false,
  requiresToolsWithToolHistory: false,
  requiresReasoningContentOnAssistantMessages: false,
  replaysThinking: true,
  thinkingFormat: "openai",
  thinkingTokenBudgetField: undefined,
  chatTemplateKwargs: undefined,
  chatTemplateArgs: undefined,
  cacheControlFormat: undefined,
  openRouterRouting: undefined,
  vercelGatewayRouting: undefined,
  sendSessionAffinityHeaders: false,
  sessionAffinityFormat: "openai",
  toolCallIdFormat: "openai",
  zaiToolStream: false,
  supportsMidConvoSystemMessages: false,
  supportsMidConvoToolAdditions: false,
  vllmPriority: undefined,
  maxImages: undefined,
  maxImageBytes: undefined,
};

interface KnownEndpoint {
  /** Host names; subdomains match too. */
  readonly hosts: readonly string[];
  readonly providers: readonly string[];
  readonly compat: Partial<CompletionsCompat>;
}

const hosted = { sendsMaxTokens: true } as const;
const newTokensField = { maxTokensField: "max_completion_tokens", ...hosted } as const;

/** The deviations of Mistral's servers. */
export const mistralCompat = {
  ...hosted,
  toolCallIdFormat: "mistral",
  maxImages: 8,
  supportsUsageInStreaming: false,
  requiresToolResultName: true,
  requiresNonNullAssistantContent: true,
  supportsPromptCacheKey: true,
  supportsLongCacheRetention: false,
} as const satisfies Partial<CompletionsCompat>;

const knownEndpoints: readonly KnownEndpoint[] = [
  {
    hosts: ["api.openai.com", "openai.azure.com"],
    providers: ["openai", "azure-openai"],
    compat: {
      ...newTokensField,
      supportsStore: true,
      supportsDeveloperRole: true,
      supportsStrictMode: true,
      supportsPromptCacheKey: true,
      maxImages: 500,
      maxImageBytes: 40_000_000,
    },
  },
  {
    hosts: ["openrouter.ai"],
    providers: ["openrouter"],
    compat: {
      ...newTokensField,
      supportsStrictMode: true,
      thinkingFormat: "openrouter",
      sendSessionAffinityHeaders: true,
      sessionAffinityFormat: "openrouter",
    },
  },
  { hosts: ["ai-gateway.vercel.sh"], providers: ["vercel-ai-gateway"], compat: newTokensField },
  {
    hosts: ["deepseek.com"],
    providers: ["deepseek"],
    compat: {
      ...hosted,
      thinkingFormat: "deepseek",
      requiresReasoningContentOnAssistantMessages: true,
    },
  },
  {
    hosts: ["cerebras.ai"],
    providers: ["cerebras"],
    compat: { ...newTokensField, supportsUsageInStreaming: false, replaysThinking: false },
  },
  {
    hosts: ["x.ai"],
    providers: ["xai"],
    compat: { ...newTokensField, supportsReasoningEffort: false },
  },
  {
    hosts: ["groq.com"],
    providers: ["groq"],
    // A request with base64 images may have 4 MB in total.
    compat: { ...newTokensField, maxImages: 5, maxImageBytes: 3_000_000 },
  },
  {
    hosts: ["mistral.ai"],
    providers: ["mistral"],
    compat: mistralCompat,
  },
  {
    hosts: ["moonshot.ai", "moonshot.cn", "kimi.com"],
    providers: ["moonshotai", "moonshotai-cn", "kimi-coding"],
    compat: { ...hosted, supportsPromptCacheKey: true, supportsLongCacheRetention: false },
  },
  {
    hosts: ["z.ai", "bigmodel.cn"],
    providers: ["zai", "zhipuai"],
    compat: {
      ...hosted,
      supportsReasoningEffort: false,
      thinkingFormat: "zai",
    },
  },
  {
    hosts: ["aliyuncs.com"],
    providers: ["qwen", "dashscope", "qwen-token-plan"],
    compat: { ...hosted, supportsReasoningEffort: false, thinkingFormat: "qwen" },
  },
  {
    hosts: ["together.ai", "together.xyz"],
    providers: ["together"],
    compat: { ...hosted, supportsReasoningEffort: false, thinkingFormat: "together" },
  },
  {
    hosts: ["fireworks.ai"],
    providers: ["fireworks"],
    compat: { ...hosted, sendSessionAffinityHeaders: true, supportsLongCacheRetention: false },
  },
  {
    hosts: ["baseten.co"],
    providers: ["baseten"],
    compat: { ...hosted, sendSessionAffinityHeaders: true, supportsLongCacheRetention: false },
  },
  { hosts: ["integrate.api.nvidia.com"], providers: ["nvidia"], compat: hosted },
  { hosts: ["huggingface.co"], providers: ["huggingface"], compat: hosted },
  { hosts: ["xiaomimimo.com"], providers: ["xiaomi"], compat: newTokensField },
  // Workers AI ends a reply after 256 tokens unless a limit is set.
  {
    hosts: ["api.cloudflare.com", "gateway.ai.cloudflare.com"],
    providers: ["cloudflare-workers-ai", "cloudflare-ai-gateway"],
    compat: hosted,
  },
  { hosts: ["ant-ling.com"], providers: ["ant-ling"], compat: hosted },
  { hosts: ["chutes.ai"], providers: ["chutes"], compat: hosted },
  { hosts: ["opencode.ai"], providers: ["opencode"], compat: newTokensField },
];

/**
 * Resolves the deviations of a model's endpoint: the model's own flags take precedence over those for its
 * host or provider name.
 */
export function resolveCompletionsCompat(model: Model): CompletionsCompat {
  const compat = resolved.get(model) ?? resolve(model);
  resolved.set(model, compat);
  return compat;
}

/** Cached, because each request needs it three times (row "CPU per short prompt"). */
const resolved = new WeakMap<Model, CompletionsCompat>();

function resolve(model: Model): CompletionsCompat {
  return Object.freeze({ ...unknownEndpoint, ...detect(model), ...declared(model.compat) });
}

function detect(model: Model): Partial<CompletionsCompat> {
  const host = hostOf(model.baseUrl);
  const provider = model.provider.toLowerCase();
  const byHost = knownEndpoints.find((endpoint) =>
    endpoint.hosts.some((known) => host === known || host.endsWith(`.${known}`)),
  );
  // The provider name also identifies the endpoint behind a proxy.
  const known = byHost ?? knownEndpoints.find((endpoint) => endpoint.providers.includes(provider));
  return known?.compat ?? {};
}

/** The lower-case host of a base URL, or an empty string if the URL is invalid. */
function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.toLowerCase() : "";
}

const choices: Readonly<Record<string, readonly unknown[]>> = {
  maxTokensField: ["max_completion_tokens", "max_tokens"],
  thinkingFormat: thinkingFormats,
  cacheControlFormat: ["anthropic"],
  sessionAffinityFormat: ["openai", "openai-nosession", "openrouter"],
  toolCallIdFormat: ["openai", "mistral"],
};
const objectKeys = new Set([
  "chatTemplateKwargs",
  "chatTemplateArgs",
  "openRouterRouting",
  "vercelGatewayRouting",
]);

/** Copies members with values of the right type; foreign or mistyped members are ignored. */
function declared(compat: Model["compat"]): Partial<CompletionsCompat> {
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(compat ?? {})) {
    if (key in unknownEndpoint && isValid(key, value)) own[key] = value;
  }
  return own;
}

function isValid(key: string, value: unknown): boolean {
  const allowed = choices[key];
  if (allowed !== undefined) return allowed.includes(value);
  if (objectKeys.has(key)) return typeof value === "object" && value !== null;
  if (key === "vllmPriority") return typeof value === "number";
  if (key === "maxImages" || key === "maxImageBytes")
    return Number.isInteger(value) && Number(value) > 0;
  if (key === "thinkingTokenBudgetField") return typeof value === "string" && value !== "";
  return typeof value === "boolean";
}
