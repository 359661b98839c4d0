import type { Model } from "@tau-agent/rpc-protocol/messages";
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { deploymentOf, isAzure } from "../azure/azure-endpoint.ts";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { outputLimit } from "../request/output-limit.ts";
import { OUTPUT_NAME, outputSchemaFor } from "../request/output-schema.ts";
import { Prefixes } from "../request/prefixes.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { Features } from "../request/setup.ts";
import { boundedId } from "../request/short-id.ts";
import { markCache } from "./cache-control.ts";
import { type CompletionsCompat, resolveCompletionsCompat } from "./compat.ts";
import { encodeMessages } from "./messages.ts";
import { type CompletionsShapes, completionsPrefixWire } from "./setup.ts";
import { thinkingFields } from "./thinking.ts";

/** A request in OpenAI's type, plus the members that other servers add. */
export type CompletionsRequest = ChatCompletionCreateParamsStreaming & Record<string, unknown>;

/** Encodes our context as a chat-completions request. Pure; an unchanged prefix stays byte for byte the same. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
  prefixes: Prefixes<CompletionsShapes> = new Prefixes(completionsPrefixWire),
): CompletionsRequest {
  const compat = resolveCompletionsCompat(model);
  const isThinking = model.reasoning && (options.thinkingLevel ?? "off") !== "off";
  const rules = { compat, isThinking };
  const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
  const tools = memory.tools(context.tools, options, compat.supportsStrictMode, encodeTool);
  const { setup, messages: arranged } = prefixes.arrange({
    key: options.sessionId && [options.sessionId, model.provider, model.id].join("\n"),
    features: featuresOf(compat),
    setup: { system: context.systemPrompt ?? "", role, tools, effort: undefined },
    turns: encodeMessages(context.messages, rules, memory.messages(options)),
    isContinued: false,
  });
  // The SDK's type has no messages that add tools.
  const messages = arranged as ChatCompletionMessageParam[];
  if (setup.system !== "") messages.unshift({ role, content: setup.system });
  const name = isAzure(model) ? deploymentOf(model, options.environment) : model.id;
  const request: CompletionsRequest = { model: name, messages, stream: true };
  Object.assign(
    request,
    toolFields(setup.tools, context, compat),
    compat.supportsUsageInStreaming ? { stream_options: { include_usage: true } } : {},
    compat.supportsStore ? { store: false } : {},
    limitFields(model, compat, options),
    thinkingFields(model, compat, options),
    cacheFields(compat, options),
    routingFields(compat),
    outputFields(options),
  );
  const retention = options.cacheRetention ?? "short";
  if (compat.cacheControlFormat === "anthropic" && retention !== "none") {
    markCache(request, retention === "long" && compat.supportsLongCacheRetention);
  }
  return request;
}

function featuresOf(compat: CompletionsCompat): Features {
  const { supportsMidConvoSystemMessages: system, supportsMidConvoToolAdditions } = compat;
  const tools = supportsMidConvoToolAdditions ? "added" : false;
  return { bindsThinking: false, appends: { system, tools, effort: false } };
}

function toolFields(
  tools: readonly ChatCompletionFunctionTool[],
  context: Context,
  compat: CompletionsCompat,
): Record<string, unknown> {
  if (tools.length > 0) {
    return {
      tools: [...tools],
      ...(compat.zaiToolStream ? { tool_stream: true } : {}),
    };
  }
  // Most servers refuse an empty list, but some proxies refuse earlier calls without one.
  const isNeeded = compat.requiresToolsWithToolHistory && context.messages.some(hasToolUse);
  return isNeeded ? { tools: [] } : {};
}

function hasToolUse(message: Context["messages"][number]): boolean {
  if (message.role === "toolResult") return true;
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall");
}

function encodeTool(tool: ToolDefinition, isStrictKnown: boolean): ChatCompletionFunctionTool {
  return {
    type: "function",
    function: {
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      // A boolean or nothing: LM Studio refuses null, others refuse the member.
      ...(isStrictKnown ? { strict: false } : {}),
    },
  };
}

function limitFields(
  model: Model,
  compat: CompletionsCompat,
  options: StreamOptions,
): Record<string, unknown> {
  // Servers that reserve tokens for the limit get one only if it was requested.
  const isSent = compat.sendsMaxTokens || options.maxTokens !== undefined;
  const limit = isSent ? outputLimit(model, options) : undefined;
  return {
    ...(limit === undefined ? {} : { [compat.maxTokensField]: limit }),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
  };
}

function outputFields({ outputSchema }: StreamOptions): Record<string, unknown> {
  const schema = outputSchemaFor("openai-completions", outputSchema);
  if (schema === undefined) return {};
  const format = { name: OUTPUT_NAME, schema, strict: false };
  return { response_format: { type: "json_schema", json_schema: format } };
}

function cacheFields(compat: CompletionsCompat, options: StreamOptions): Record<string, unknown> {
  const retention = options.cacheRetention ?? "short";
  if (!compat.supportsPromptCacheKey || retention === "none" || !options.sessionId) return {};
  const isLong = retention === "long" && compat.supportsLongCacheRetention;
  return {
    prompt_cache_key: boundedId(options.sessionId, 64),
    ...(isLong ? { prompt_cache_retention: "24h" } : {}),
  };
}

function routingFields(compat: CompletionsCompat): Record<string, unknown> {
  return {
    ...(compat.openRouterRouting ? { provider: compat.openRouterRouting } : {}),
    ...(compat.vercelGatewayRouting
      ? { providerOptions: { gateway: compat.vercelGatewayRouting } }
      : {}),
    ...(compat.vllmPriority === undefined ? {} : { priority: compat.vllmPriority }),
  };
}
