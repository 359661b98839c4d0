import type { TextBlockParam, Tool } from "@anthropic-ai/sdk/resources/messages";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { Prefixes } from "../request/prefixes.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { featuresOf } from "./features.ts";
import { keepsAnHour } from "./host.ts";
import { encodeTurns, withCacheMarks } from "./messages.ts";
import { type AnthropicShapes, anthropicPrefixWire } from "./setup.ts";
import { limitsOf } from "./thinking.ts";
import type { AnthropicRequest } from "./wire-types.ts";

type CacheMark = Pick<TextBlockParam, "cache_control">;

/** A request and the information needed to read its reply. */
export interface Encoded {
  readonly request: AnthropicRequest;
  readonly prefix: string;
}

/** Encodes our context as the vendor's request. The context has already been through the history transform. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
  prefixes: Prefixes<AnthropicShapes> = new Prefixes(anthropicPrefixWire),
): Encoded {
  const { compat = {} } = model;
  const { request: limits, effort, takesTemperature } = limitsOf(model, options);
  const streamsEagerly = compat.supportsEagerToolInputStreaming !== false;
  const tools = memory.tools(context.tools, options, streamsEagerly, encodeTool);
  const rules = { allowsEmptySignature: compat.allowEmptySignature === true };
  const { setup, messages, prefix } = prefixes.arrange({
    key: options.sessionId && [options.sessionId, model.provider, model.id].join("\n"),
    features: featuresOf(model),
    setup: { system: context.systemPrompt ?? "", tools, effort },
    ...encodeTurns(context.messages, rules, memory.messages(options)),
  });
  const cache = cacheMark(model, options);
  const { temperature } = options;
  const request = {
    model: model.id,
    ...limits,
    ...(setup.effort !== undefined && { output_config: { effort: setup.effort } }),
    stream: true as const,
    ...(setup.system !== "" && {
      system: [{ type: "text" as const, text: setup.system, ...cache }],
    }),
    messages: withCacheMarks(messages, cache),
    ...(setup.tools.length > 0 && {
      // The vendor reads tools before the instructions, so the mark of the instructions covers them.
      tools:
        setup.system !== "" || compat.supportsCacheControlOnTools === false
          ? [...setup.tools]
          : marked(setup.tools, cache),
    }),
    ...(takesTemperature && temperature !== undefined && { temperature }),
  };
  return { request, prefix };
}

function cacheMark(model: Model, { cacheRetention = "short" }: StreamOptions): CacheMark {
  if (cacheRetention === "none") return {};
  const isLong = cacheRetention === "long" && keepsAnHour(model);
  return { cache_control: { type: "ephemeral", ...(isLong && { ttl: "1h" }) } };
}

function marked(tools: readonly Tool[], cache: CacheMark): Tool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, ...cache } : tool));
}

function encodeTool(
  { name, description, parameters }: ToolDefinition,
  streamsEagerly: boolean,
): Tool {
  const { $schema: _, ...schema } = parameters;
  return {
    name,
    description,
    input_schema: { ...schema, type: "object" },
    ...(streamsEagerly && { eager_input_streaming: true }),
  };
}
