import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { minOutputTokens, outputLimit } from "../request/output-limit.ts";
import { OUTPUT_NAME, outputSchemaFor } from "../request/output-schema.ts";
import { Prefixes } from "../request/prefixes.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { Features } from "../request/setup.ts";
import { boundedId } from "../request/short-id.ts";
import { type ResponsesCompat, resolveResponsesCompat } from "./compat.ts";
import { encodeInput } from "./input.ts";
import { type EncodedTool, type ResponsesShapes, responsesPrefixWire } from "./setup.ts";

/** A request in OpenAI's type, with additional effort levels that only some models have. */
export type ResponsesRequest = ResponseCreateParamsStreaming & Record<string, unknown>;

/** Encodes our context as a Responses request. Pure; an unchanged prefix stays byte for byte the same. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
  prefixes: Prefixes<ResponsesShapes> = new Prefixes(responsesPrefixWire),
): ResponsesRequest {
  const compat = resolveResponsesCompat(model);
  const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
  const { setup, messages: input } = prefixes.arrange({
    key: options.sessionId && [options.sessionId, model.provider, model.id].join("\n"),
    features: featuresOf(compat),
    setup: {
      system: context.systemPrompt ?? "",
      role,
      tools: memory.tools(context.tools, options, compat.supportsStrictMode, encodeTool),
      effort: compat.supportsReasoningEffort ? effortOf(model, options) : undefined,
    },
    turns: encodeInput(context.messages, model, memory.messages(options)),
    isContinued: false,
  });
  const { usesInstructions } = compat;
  if (setup.system !== "" && !usesInstructions) input.unshift({ role, content: setup.system });
  // Nothing is stored at the vendor: each request sends back everything the model needs to continue.
  const request: ResponsesRequest = { model: model.id, input, stream: true, store: false };
  if (setup.system !== "" && usesInstructions) request.instructions = setup.system;
  const thinking = reasoningFields(model, options, setup.effort);
  if (setup.tools.length > 0) Object.assign(request, { tools: [...setup.tools] });
  Object.assign(request, thinking, cacheFields(compat, options), outputFields(options));
  const limit = outputLimit(model, options);
  if (compat.supportsMaxOutputTokens && limit < model.maxTokens) {
    request.max_output_tokens = Math.max(limit, minOutputTokens);
  }
  // The vendor refuses a temperature while the model thinks.
  const isThinking = thinking.reasoning !== undefined && options.thinkingLevel !== "off";
  if (options.temperature !== undefined && !isThinking) request.temperature = options.temperature;
  return request;
}

function featuresOf(compat: ResponsesCompat): Features {
  const tools = compat.supportsAdditionalTools ? "added" : false;
  const { supportsMidConvoSystemMessages: system, supportsMidConvoEffort: effort } = compat;
  return { bindsThinking: false, appends: { system, tools, effort } };
}

function encodeTool(tool: ToolDefinition, isStrictKnown: boolean): EncodedTool {
  const { name, parameters } = tool;
  const description = tool.description;
  // OpenAI's own default is strict.
  const strict = isStrictKnown ? { strict: false } : {};
  return { type: "function", name, description, parameters, ...strict };
}

/** Undefined if the model has no value for "off": the vendor's default is then the closest. */
function effortOf(model: Model, { thinkingLevel: level = "off" }: StreamOptions) {
  if (!model.reasoning) return undefined;
  return model.thinkingLevelMap?.[level] ?? (level === "off" ? undefined : level);
}

function reasoningFields(
  model: Model,
  options: StreamOptions,
  effort: string | undefined,
): Record<string, unknown> {
  if (!model.reasoning) return {};
  const include = ["reasoning.encrypted_content"];
  const isOff = (options.thinkingLevel ?? "off") === "off";
  if (effort === undefined && isOff) return { include };
  const summary = isOff ? {} : { summary: "auto" };
  return { reasoning: { ...(effort !== undefined && { effort }), ...summary }, include };
}

function outputFields({ outputSchema }: StreamOptions): Record<string, unknown> {
  const schema = outputSchemaFor("openai-responses", outputSchema);
  if (schema === undefined) return {};
  return { text: { format: { type: "json_schema", name: OUTPUT_NAME, schema, strict: false } } };
}

function cacheFields(compat: ResponsesCompat, options: StreamOptions): Record<string, unknown> {
  const retention = options.cacheRetention ?? "short";
  if (!compat.supportsPromptCacheKey || !options.sessionId || retention === "none") return {};
  return {
    prompt_cache_key: boundedId(options.sessionId, 64),
    ...(retention === "long" &&
      compat.supportsLongCacheRetention && { prompt_cache_retention: "24h" }),
  };
}
