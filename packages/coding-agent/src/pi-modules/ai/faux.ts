import { computeCost, emptyUsage } from "@tau-agent/ai";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { AssistantMessageEventStream } from "../../extensions/providers/event-stream.ts";
import { createProvider } from "./providers.ts";

type Block = AssistantMessage["content"][number];
type ToolCall = Extract<Block, { type: "toolCall" }>;

interface FauxState {
  callCount: number;
}

/** A reply, or a function that creates one from the request. */
type Step =
  | AssistantMessage
  | ((
      context: unknown,
      options: unknown,
      state: FauxState,
      model: Model,
    ) => AssistantMessage | Promise<AssistantMessage>);

interface FauxOptions {
  readonly api?: string;
  readonly provider?: string;
  readonly models?: readonly (Pick<Model, "id"> & Partial<Model>)[];
  readonly tokensPerSecond?: number;
  readonly tokenSize?: { readonly min?: number; readonly max?: number };
}

/** The assumed number of characters per token. */
const tokenCharacters = 4;

/** Providers with scripted replies, which extensions use for tests. */
export function fauxFunctions(): object {
  const auth = { apiKey: { name: "none", resolve: async () => ({ auth: { apiKey: "faux" } }) } };
  const fauxProvider = (options: FauxOptions = {}) => {
    const { stream, streamSimple, ...core } = createFauxCore(options);
    const input = { id: core.provider, models: core.models, auth };
    return { ...core, provider: createProvider({ ...input, api: { stream, streamSimple } }) };
  };
  return {
    createFauxCore,
    fauxProvider,
    registerFauxProvider: (options?: FauxOptions) => ({
      ...fauxProvider(options),
      unregister: () => {},
    }),
    fauxText: (text: string) => ({ type: "text", text }),
    fauxThinking: (thinking: string) => ({ type: "thinking", thinking }),
    fauxToolCall: (name: string, given: object, { id }: { id?: string } = {}) => ({
      type: "toolCall",
      id: id ?? `call_${crypto.randomUUID()}`,
      name,
      arguments: given,
    }),
    fauxAssistantMessage,
  };
}

function fauxAssistantMessage(
  content: string | Block | readonly Block[],
  options: Partial<AssistantMessage> = {},
): AssistantMessage {
  const blocks: Block[] =
    typeof content === "string" ? [{ type: "text", text: content }] : [content].flat();
  return {
    role: "assistant",
    content: blocks,
    api: "faux",
    provider: "faux",
    model: "faux",
    usage: emptyUsage(),
    stopReason: "stop",
    timestamp: Date.now(),
    ...options,
  };
}

function createFauxCore(options: FauxOptions) {
  const { api = "faux", provider = "faux", models: described = [{ id: "faux-1" }] } = options;
  const models = described.map((model) => modelOf(model, { api, provider }));
  const state: FauxState = { callCount: 0 };
  const steps: Step[] = [];
  const stream = (model: Model, context: unknown, given: { signal?: AbortSignal } = {}) => {
    const replies = new AssistantMessageEventStream();
    const reply = async (): Promise<void> => {
      state.callCount += 1;
      const step = steps.shift();
      const made = typeof step === "function" ? await step(context, given, state, model) : step;
      const message = completed(made ?? missingReply(), model, context);
      for await (const event of eventsOf(message, { ...options, signal: given.signal })) {
        replies.push(event);
      }
    };
    reply().catch((cause: unknown) => {
      const errorMessage = cause instanceof Error ? cause.message : String(cause);
      const error = completed(
        fauxAssistantMessage([], { stopReason: "error", errorMessage }),
        model,
        context,
      );
      replies.push({ type: "error", reason: "error", error });
    });
    return replies;
  };
  return {
    api,
    provider,
    models,
    state,
    stream,
    streamSimple: stream,
    getModel: (id?: string) =>
      id === undefined ? models[0] : models.find((model) => model.id === id),
    setResponses: (responses: readonly Step[]) => {
      steps.splice(0, steps.length, ...responses);
    },
    appendResponses: (responses: readonly Step[]) => {
      steps.push(...responses);
    },
    getPendingResponseCount: () => steps.length,
  };
}

function missingReply(): AssistantMessage {
  return fauxAssistantMessage([], { stopReason: "error", errorMessage: "No reply is left" });
}

function modelOf(
  model: Pick<Model, "id"> & Partial<Model>,
  owner: { readonly api: string; readonly provider: string },
): Model {
  return {
    name: model.id,
    baseUrl: "faux:",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 16_384,
    ...model,
    ...owner,
  };
}

/** A complete reply in the model's name, with estimated usage. */
function completed(made: AssistantMessage, model: Model, context: unknown): AssistantMessage {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / tokenCharacters);
  const used = {
    input: tokens(context),
    output: tokens(made.content),
    cacheRead: 0,
    cacheWrite: 0,
  };
  const cost = computeCost(model.cost, used);
  const usage = { ...used, totalTokens: used.input + used.output, cost };
  const { api, provider, id } = model;
  return { ...made, api, provider, model: id, usage };
}

interface Pace extends FauxOptions {
  readonly signal?: AbortSignal | undefined;
}

async function* eventsOf(
  message: AssistantMessage,
  pace: Pace,
): AsyncGenerator<AssistantMessageEvent> {
  const partial: AssistantMessage = { ...message, content: [] };
  yield { type: "start", partial };
  for (const [contentIndex, block] of message.content.entries()) {
    if (pace.signal?.aborted) break;
    const at = { contentIndex, partial };
    if (block.type === "toolCall") {
      partial.content.push({ ...block, arguments: {} });
      yield { type: "toolcall_start", ...at, id: block.id, toolName: block.name };
      for await (const delta of pieces(JSON.stringify(block.arguments), pace)) {
        yield { type: "toolcall_delta", ...at, delta };
      }
      partial.content[contentIndex] = block;
      yield { type: "toolcall_end", ...at, toolCall: block as ToolCall };
    } else if (block.type === "text" || block.type === "thinking") {
      yield* textEvents(block, at, pace);
    } else partial.content.push(block);
  }
  if (pace.signal?.aborted) {
    const error = { ...message, content: partial.content, stopReason: "aborted" as const };
    yield { type: "error", reason: "aborted", error };
  } else if (message.stopReason === "error" || message.stopReason === "aborted") {
    yield { type: "error", reason: message.stopReason, error: message };
  } else yield { type: "done", reason: message.stopReason, message };
}

async function* textEvents(
  block: Extract<Block, { type: "text" | "thinking" }>,
  at: { readonly contentIndex: number; readonly partial: AssistantMessage },
  pace: Pace,
): AsyncGenerator<AssistantMessageEvent> {
  const { type } = block;
  const content = block.type === "text" ? block.text : block.thinking;
  let text = "";
  const written = (): Block =>
    block.type === "text" ? { ...block, text } : { ...block, thinking: text };
  at.partial.content.push(written());
  yield { type: `${type}_start`, ...at };
  for await (const delta of pieces(content, pace)) {
    text += delta;
    at.partial.content[at.contentIndex] = written();
    yield { type: `${type}_delta`, ...at, delta };
  }
  yield { type: `${type}_end`, ...at, content };
}

async function* pieces(
  text: string,
  { tokenSize = {}, tokensPerSecond, signal }: Pace,
): AsyncGenerator<string> {
  const tokens = tokenSize.max ?? tokenSize.min ?? 5;
  const size = Math.max(1, tokens) * tokenCharacters;
  for (let start = 0; start < text.length && signal?.aborted !== true; start += size) {
    if (tokensPerSecond !== undefined && tokensPerSecond > 0) {
      await new Promise((done) => setTimeout(done, (tokens / tokensPerSecond) * 1000));
    }
    yield text.slice(start, start + size);
  }
}
