import type {
  CachePointBlock,
  ConverseStreamRequest,
  Message,
  Tool,
} from "@aws-sdk/client-bedrock-runtime";
import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { type MarkRules, markedPlaces } from "../request/cache-marks.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { encodeMessages } from "./messages.ts";
import { familyOf } from "./model-family.ts";
import { limitsOf } from "./thinking.ts";

/** The request in the form that the vendor's SDK accepts. */
export type BedrockRequest = ConverseStreamRequest;

interface CachePoint {
  readonly cachePoint: CachePointBlock;
}

/** Encodes our context as the vendor's request. The context has already been through the history transform. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): BedrockRequest {
  const { isClaude, isNova } = familyOf(model);
  const rules = { hasImageResults: isClaude || isNova, takesThinking: isClaude };
  const messages = encodeMessages(context.messages, rules, memory.messages(options));
  const cache = cachePoints(model, options);
  const tools = encodeTools(context);
  const hasSystem = (context.systemPrompt ?? "").trim() !== "";
  const { inferenceConfig, fields, outputConfig } = limitsOf(model, options, tools.length > 0);
  return {
    modelId: model.id,
    messages: withCachePoints(messages, cache),
    ...(hasSystem && { system: [{ text: context.systemPrompt ?? "" }, ...cache] }),
    inferenceConfig,
    // The vendor reads tools before the instructions, so the mark of the instructions covers them.
    ...(tools.length > 0 && { toolConfig: { tools: [...tools, ...(hasSystem ? [] : cache)] } }),
    ...(Object.keys(fields).length > 0 && {
      additionalModelRequestFields: fields as NonNullable<
        BedrockRequest["additionalModelRequestFields"]
      >,
    }),
    ...(outputConfig && { outputConfig }),
  };
}

/** A cache point as a list to spread; only Claude accepts it after tools as well. */
function cachePoints(model: Model, { cacheRetention = "short" }: StreamOptions): CachePoint[] {
  const { isClaude, cachesLong } = familyOf(model);
  const takes = model.compat?.supportsCachePoints ?? isClaude;
  if (takes !== true || cacheRetention === "none") return [];
  const isLong = cacheRetention === "long" && cachesLong;
  return [{ cachePoint: { type: "default", ...(isLong && { ttl: "1h" as const }) } }];
}

function withCachePoints(messages: readonly Message[], cache: readonly CachePoint[]): Message[] {
  const marked = [...messages];
  if (cache.length === 0) return marked;
  // Starts at the end, so that insertions do not shift earlier places.
  for (const { message: at, block } of markedPlaces(messages, markRules).reverse()) {
    const { role, content = [] } = marked[at] ?? {};
    if (role !== undefined)
      marked[at] = { role, content: content.toSpliced(block + 1, 0, ...cache) };
  }
  return marked;
}

/** Calls and their results must each stay together, and a cache point cannot follow thinking. */
const markRules: MarkRules<Message> = {
  isRead: ({ role }) => role === "user",
  marks: ({ content = [] }) =>
    content.map((block, index) => {
      const next = content[index + 1];
      if (block.reasoningContent !== undefined) return false;
      if (block.toolUse !== undefined) return next?.toolUse === undefined;
      return block.toolResult === undefined || next?.toolResult === undefined;
    }),
};

function encodeTools({ tools = [], messages }: Context): Tool[] {
  // Bedrock refuses calls in the history unless tools are declared.
  const all = tools.length > 0 ? tools : namedIn(messages);
  return all.map(({ name, description, parameters }) => {
    const { $schema: _, ...schema } = parameters;
    const json = { ...schema, type: "object" } as NonNullable<
      NonNullable<NonNullable<Tool["toolSpec"]>["inputSchema"]>["json"]
    >;
    const described = description.trim() === "" ? {} : { description };
    return { toolSpec: { name, ...described, inputSchema: { json } } };
  });
}

function namedIn(messages: readonly LlmMessage[]): ToolDefinition[] {
  const names = messages.flatMap((message) =>
    message.role !== "assistant"
      ? []
      : message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : [])),
  );
  const description = "No longer available.";
  return [...new Set(names)].map((name) => ({ name, description, parameters: {} }));
}
