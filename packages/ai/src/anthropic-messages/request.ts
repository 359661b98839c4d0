import type {
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  ThinkingConfigParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { thinkingBudget } from "../models/thinking.ts";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { encodeMessages } from "./messages.ts";

/** The body of a request; `temperature` belongs to API version 2023-06-01 only. */
export type AnthropicRequest = MessageCreateParamsStreaming & { temperature?: number };

type CacheControl = NonNullable<TextBlockParam["cache_control"]>;

const defaultMaxTokens = 32_000;
const minBudgetTokens = 1024;

/** Whether a base URL is the vendor's own, where every documented feature is there. */
export function isAnthropicHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(?:^|\.)anthropic\.com$/i.test(new URL(baseUrl).hostname);
}

/** Ours → the vendor's. The context has been through the history transform. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): AnthropicRequest {
  const { compat = {} } = model;
  const level = model.reasoning ? (options.thinkingLevel ?? "off") : "off";
  const cache = cacheControl(model, options);
  const limits = encodeThinking(model, level, options);
  const { temperature } = options;
  const takesTemperature = level === "off" && compat.supportsTemperature !== false;
  return {
    model: model.id,
    ...limits,
    stream: true,
    ...(context.systemPrompt && {
      system: [{ type: "text", text: context.systemPrompt, ...cache }],
    }),
    messages: encodeMessages(
      context.messages,
      { cache, allowsEmptySignature: compat.allowEmptySignature === true },
      memory.messages(options),
    ),
    ...(context.tools?.length && { tools: encodeTools(context.tools, compat, cache) }),
    ...(takesTemperature && temperature !== undefined && { temperature }),
  };
}

function cacheControl(
  model: Model,
  { cacheRetention = "short" }: StreamOptions,
): { cache_control?: CacheControl } {
  if (cacheRetention === "none") return {};
  const isLong =
    cacheRetention === "long" &&
    model.compat?.supportsLongCacheRetention !== false &&
    isAnthropicHost(model.baseUrl);
  return { cache_control: { type: "ephemeral", ...(isLong && { ttl: "1h" }) } };
}

interface Limits {
  max_tokens: number;
  thinking?: ThinkingConfigParam;
  output_config?: OutputConfig;
}

/** Thinking tokens count as output, so the output limit grows with what thinking may take. */
function encodeThinking(model: Model, level: ThinkingLevel, options: StreamOptions): Limits {
  const base = Math.min(options.maxTokens ?? defaultMaxTokens, model.maxTokens);
  if (level === "off") {
    const canDisable = model.reasoning && model.thinkingLevelMap?.off !== null;
    return { max_tokens: base, ...(canDisable && { thinking: { type: "disabled" } }) };
  }
  const budget = thinkingBudget(level, options.thinkingBudgets);
  const maxTokens = Math.min(base + budget, model.maxTokens);
  if (model.compat?.forceAdaptiveThinking === true) {
    // The newest models leave thinking out of the reply unless asked for a summary.
    const display = isAnthropicHost(model.baseUrl) ? { display: "summarized" as const } : {};
    return {
      max_tokens: maxTokens,
      thinking: { type: "adaptive", ...display },
      output_config: { effort: effort(model, level) },
    };
  }
  const budgetTokens = Math.max(minBudgetTokens, Math.min(budget, maxTokens - minBudgetTokens));
  // A model too small for any budget above the vendor's minimum answers without thinking.
  if (budgetTokens >= maxTokens) return { max_tokens: base };
  return { max_tokens: maxTokens, thinking: { type: "enabled", budget_tokens: budgetTokens } };
}

type Effort = NonNullable<OutputConfig["effort"]>;

const efforts: Readonly<Record<string, Effort>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

function effort(model: Model, level: ThinkingLevel): Effort {
  return efforts[model.thinkingLevelMap?.[level] ?? level] ?? "high";
}

function encodeTools(
  tools: readonly ToolDefinition[],
  compat: Record<string, unknown>,
  cache: { cache_control?: CacheControl },
): Tool[] {
  const streamsEagerly = compat.supportsEagerToolInputStreaming !== false;
  return tools.map(({ name, description, parameters }, index) => {
    const { $schema: _, ...schema } = parameters;
    const isLast = index === tools.length - 1;
    return {
      name,
      description,
      input_schema: { ...schema, type: "object" },
      ...(streamsEagerly && { eager_input_streaming: true }),
      ...(isLast && compat.supportsCacheControlOnTools !== false && cache),
    };
  });
}
