import type { Model } from "@tau-agent/rpc-protocol/messages";
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
} from "openai/resources/responses/responses";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { minOutputTokens, outputLimit } from "../request/output-limit.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { boundedId } from "../request/short-id.ts";
import { type ResponsesCompat, resolveResponsesCompat } from "./compat.ts";
import { encodeInput } from "./input.ts";

/** A request in OpenAI's type; levels of effort beyond its list are the model's own. */
export type ResponsesRequest = ResponseCreateParamsStreaming & Record<string, unknown>;

/** Our context → a Responses request. Pure; an unchanged prefix stays byte for byte the same. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): ResponsesRequest {
  const compat = resolveResponsesCompat(model);
  const input = encodeInput(context.messages, model, memory.messages(options));
  if (context.systemPrompt) {
    const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
    input.unshift({ role, content: context.systemPrompt });
  }
  // Nothing is stored at the vendor: what it needs to go on comes back with each request.
  const request: ResponsesRequest = { model: model.id, input, stream: true, store: false };
  const tools = context.tools ?? [];
  const thinking = reasoningFields(model, options);
  if (tools.length > 0) {
    Object.assign(request, { tools: tools.map((tool) => encodeTool(tool, compat)) });
  }
  Object.assign(request, thinking, cacheFields(compat, options));
  const limit = outputLimit(model, options);
  if (compat.supportsMaxOutputTokens && limit < model.maxTokens) {
    request.max_output_tokens = Math.max(limit, minOutputTokens);
  }
  // Refused while the model thinks.
  const isThinking = thinking.reasoning !== undefined && options.thinkingLevel !== "off";
  if (options.temperature !== undefined && !isThinking) request.temperature = options.temperature;
  return request;
}

type EncodedTool = Omit<FunctionTool, "strict"> & Partial<Pick<FunctionTool, "strict">>;

function encodeTool(tool: ToolDefinition, compat: ResponsesCompat): EncodedTool {
  const { name, parameters } = tool;
  const description = tool.description;
  // OpenAI itself would default to strict.
  const strict = compat.supportsStrictMode ? { strict: false } : {};
  return { type: "function", name, description, parameters, ...strict };
}

function reasoningFields(model: Model, options: StreamOptions): Record<string, unknown> {
  if (!model.reasoning) return {};
  const level = options.thinkingLevel ?? "off";
  const mapped = model.thinkingLevelMap?.[level];
  const include = ["reasoning.encrypted_content"];
  // Without a word for "off" the vendor's default is the nearest thing.
  if (level === "off") return mapped ? { reasoning: { effort: mapped }, include } : { include };
  return { reasoning: { effort: mapped ?? level, summary: "auto" }, include };
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
