import type { Attributes } from "@opentelemetry/api";
import type { StreamOptions } from "@tau-agent/ai";
import type { AssistantMessage, Model, Usage } from "@tau-agent/rpc-protocol/messages";

/**
 * The attributes of spans. OpenTelemetry's conventions for generative AI are still in development, so their names
 * appear only here.
 */
export const names = {
  operation: "gen_ai.operation.name",
  conversation: "gen_ai.conversation.id",
  agent: "gen_ai.agent.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  responseId: "gen_ai.response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheCreationTokens: "gen_ai.usage.cache_creation.input_tokens",
  serverAddress: "server.address",
  serverPort: "server.port",
  tool: "gen_ai.tool.name",
  toolCall: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  errorType: "error.type",
  /** Specific to Tau: the work was stopped, which is not a failure. */
  aborted: "tau.aborted",
  /** Specific to Tau: the request only renewed the prompt cache. */
  cacheWarming: "tau.cache_warming",
} as const;

/** Providers that have other names in the conventions. */
const providers: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["google", "gcp.gemini"],
  ["google-vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
]);

/** The attributes that are known before a request is sent. */
export function requestAttributes(
  { provider, id, baseUrl }: Model,
  { renewsCache }: Pick<StreamOptions, "renewsCache"> = {},
): Attributes {
  return {
    ...(renewsCache === true && { [names.cacheWarming]: true }),
    [names.provider]: providers.get(provider) ?? provider,
    [names.requestModel]: id,
    ...serverAttributes(baseUrl),
  };
}

function serverAttributes(baseUrl: string): Attributes {
  if (!URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  if (hostname === "") return {};
  const usual = protocol === "http:" ? 80 : 443;
  return {
    // An IPv6 address has brackets only inside a URL.
    [names.serverAddress]: hostname.replace(/^\[|\]$/g, ""),
    [names.serverPort]: port === "" ? usual : Number(port),
  };
}

/** The conventions' names for the ends of a reply; a failed or aborted reply has none. */
export const finishReasons = {
  stop: "stop",
  length: "length",
  toolUse: "tool_call",
  error: undefined,
  aborted: undefined,
} as const satisfies Record<AssistantMessage["stopReason"], string | undefined>;

export function replyAttributes(message: AssistantMessage): Attributes {
  const reason = finishReasons[message.stopReason];
  return {
    [names.responseModel]: message.responseModel ?? message.model,
    ...(message.responseId === undefined ? {} : { [names.responseId]: message.responseId }),
    ...(reason === undefined ? {} : { [names.finishReasons]: [reason] }),
    ...usageAttributes(tokensOf(message.usage)),
  };
}

/** Token counts as the conventions define them: input includes cached tokens. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
}

export function tokensOf({ input, output, cacheRead, cacheWrite }: Usage): Tokens {
  return {
    input: input + cacheRead + cacheWrite,
    output,
    cacheRead,
    cacheCreation: cacheWrite,
  };
}

export function sumOf(left: Tokens, right: Tokens): Tokens {
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheCreation: left.cacheCreation + right.cacheCreation,
  };
}

export function usageAttributes({ input, output, cacheRead, cacheCreation }: Tokens): Attributes {
  return {
    [names.inputTokens]: input,
    [names.outputTokens]: output,
    [names.cacheReadTokens]: cacheRead,
    [names.cacheCreationTokens]: cacheCreation,
  };
}
