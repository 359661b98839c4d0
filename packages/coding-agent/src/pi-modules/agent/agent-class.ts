import { Agent, type QueueMode, type ToolHooks } from "@tau-agent/agent";
import type { Context, StreamFunction, StreamOptions } from "@tau-agent/ai";
import type { AgentEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  ImageContent,
  LlmMessage,
  Model,
  ThinkingLevel,
} from "@tau-agent/rpc-protocol/messages";
import type { ExtensionContext } from "../../extensions/api/context.ts";
import { ExtensionError } from "../../extensions/api/errors.ts";
import type { ProviderStream } from "../../extensions/api/native-provider.ts";
import type { ExtensionTool } from "../../extensions/api/tool.ts";
import { agentToolOf } from "../../extensions/context/agent-tool.ts";
import { Extension } from "../../extensions/load/registration.ts";
import { withProviderStreams } from "../../extensions/providers/provider-config.ts";
import { toLlmMessages } from "../../user-input/llm-messages.ts";

/** The state of pi's agent; all members can be assigned. */
interface PiState {
  systemPrompt: string;
  model: Model | undefined;
  thinkingLevel: ThinkingLevel;
  tools: readonly ExtensionTool[];
  messages: AgentMessage[];
  isStreaming: boolean;
  streamingMessage: AgentMessage | undefined;
  pendingToolCalls: ReadonlySet<string>;
  errorMessage: string | undefined;
}

interface PiAgentOptions {
  readonly initialState?: Partial<PiState>;
  readonly streamFn?: ProviderStream;
  readonly convertToLlm?: (messages: AgentMessage[]) => LlmMessage[] | Promise<LlmMessage[]>;
  readonly transformContext?: (
    messages: AgentMessage[],
    signal?: AbortSignal,
  ) => Promise<AgentMessage[]>;
  readonly getApiKey?: (provider: string) => string | undefined | Promise<string | undefined>;
  readonly beforeToolCall?: (context: object, signal?: AbortSignal) => Promise<Decision>;
  readonly afterToolCall?: (context: object, signal?: AbortSignal) => Promise<object | undefined>;
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
  readonly sessionId?: string;
}

type Decision = { readonly block?: boolean; readonly reason?: string } | undefined;
type Listener = (event: object, signal: AbortSignal) => unknown;

/** pi's agent class on top of our loop; `stream` is used if the agent has none. */
export function piAgentClass(stream: () => ProviderStream): object {
  return class PiAgent extends AgentOfExtension {
    constructor(options: PiAgentOptions = {}) {
      super(options, stream);
    }
  };
}

/** A separate conversation of an extension with a model. */
class AgentOfExtension {
  readonly state: PiState;
  readonly #options: PiAgentOptions;
  readonly #agent: Agent;
  readonly #listeners = new Set<Listener>();
  #running: Promise<void> | undefined;
  #controller: AbortController | undefined;
  readonly #pendingToolCalls = new Set<string>();

  constructor(options: PiAgentOptions, stream: () => ProviderStream) {
    this.#options = options;
    const { streamFn, steeringMode, followUpMode, initialState } = options;
    this.#agent = new Agent({
      stream: streamOf(() => streamFn ?? stream()),
      prepareRequest: () => this.#prepareRequest(),
      record: () => {},
      emit: (event) => this.#emit(event),
      // Conversion happens in `transformContext`, which may be asynchronous.
      toLlmMessages: (messages) => [...messages] as LlmMessage[],
      transformContext: (context) => this.#transformContext(context),
      hooks: this.#hooks(),
    });
    this.#agent.steering.mode = steeringMode ?? "one-at-a-time";
    this.#agent.followUp.mode = followUpMode ?? "one-at-a-time";
    this.state = stateOf(this.#agent, this.#pendingToolCalls, initialState);
  }

  get signal(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  prompt(
    input: string | AgentMessage | readonly AgentMessage[],
    images: readonly ImageContent[] = [],
  ): Promise<void> {
    const text = (content: string) => [{ type: "text" as const, text: content }, ...images];
    const messages =
      typeof input === "string"
        ? [{ role: "user" as const, content: text(input), timestamp: Date.now() }]
        : [input].flat();
    return this.#run(messages);
  }

  continue(): Promise<void> {
    return this.#run([]);
  }

  steer(message: AgentMessage): void {
    this.#agent.steering.enqueue(message);
  }

  followUp(message: AgentMessage): void {
    this.#agent.followUp.enqueue(message);
  }

  clearSteeringQueue(): void {
    this.#agent.steering.clear();
  }

  clearFollowUpQueue(): void {
    this.#agent.followUp.clear();
  }

  clearAllQueues(): void {
    this.clearSteeringQueue();
    this.clearFollowUpQueue();
  }

  hasQueuedMessages(): boolean {
    return this.#agent.steering.size + this.#agent.followUp.size > 0;
  }

  abort(): void {
    this.#controller?.abort();
  }

  async waitForIdle(): Promise<void> {
    await this.#running?.catch(() => {});
  }

  reset(): void {
    this.clearAllQueues();
    this.state.messages = [];
    this.state.errorMessage = undefined;
  }

  setSystemPrompt(systemPrompt: string): void {
    this.state.systemPrompt = systemPrompt;
  }

  setModel(model: Model): void {
    this.state.model = model;
  }

  setThinkingLevel(level: ThinkingLevel): void {
    this.state.thinkingLevel = level;
  }

  setTools(tools: readonly ExtensionTool[]): void {
    this.state.tools = tools;
  }

  setSteeringMode(mode: QueueMode): void {
    this.#agent.steering.mode = mode;
  }

  setFollowUpMode(mode: QueueMode): void {
    this.#agent.followUp.mode = mode;
  }

  replaceMessages(messages: AgentMessage[]): void {
    this.state.messages = messages;
  }

  appendMessage(message: AgentMessage): void {
    this.#agent.append(message);
  }

  clearMessages(): void {
    this.state.messages = [];
  }

  #run(messages: readonly AgentMessage[]): Promise<void> {
    if (this.#running !== undefined) {
      const text =
        "The agent is already running: steer it, queue a follow-up, or wait for it to finish";
      return Promise.reject(new ExtensionError("not_ready", text));
    }
    this.#running = this.#work(messages).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #work(messages: readonly AgentMessage[]): Promise<void> {
    const controller = new AbortController();
    this.#controller = controller;
    this.state.errorMessage = undefined;
    this.state.isStreaming = true;
    const outcome = await this.#agent.run(messages, controller.signal);
    const { reply, failure } = outcome;
    this.state.isStreaming = false;
    this.state.streamingMessage = undefined;
    this.state.errorMessage =
      failure instanceof Error ? failure.message : reply?.message.errorMessage;
    await this.#emit({ type: "agent_end", messages: [...outcome.messages] });
    if (failure !== undefined) throw failure;
  }

  async #emit(event: AgentEvent | { type: "agent_end"; messages: AgentMessage[] }): Promise<void> {
    if (event.type === "message_start" || event.type === "message_update") {
      this.state.streamingMessage = event.message;
    } else if (event.type === "message_end") this.state.streamingMessage = undefined;
    if (event.type === "tool_execution_start") this.#pendingToolCalls.add(event.toolCallId);
    else if (event.type === "tool_execution_end") this.#pendingToolCalls.delete(event.toolCallId);
    const { signal } = this.#controller ?? new AbortController();
    for (const listener of [...this.#listeners]) await listener(event, signal);
  }

  async #prepareRequest() {
    const { model, systemPrompt, tools, thinkingLevel } = this.state;
    if (model === undefined) throw new ExtensionError("not_ready", "The agent has no model");
    const { getApiKey, sessionId } = this.#options;
    const apiKey = await getApiKey?.(model.provider);
    const options = {
      thinkingLevel,
      sessionId,
      ...(apiKey === undefined ? {} : { apiKey }),
    } as Omit<StreamOptions, "signal">;
    return { model, systemPrompt, tools: tools.map(toolOf), options };
  }

  async #transformContext(context: Context): Promise<Context> {
    const { transformContext, convertToLlm } = this.#options;
    const own = [...context.messages] as AgentMessage[];
    const messages = (await transformContext?.(own, this.#controller?.signal)) ?? own;
    const llm = convertToLlm === undefined ? toLlmMessages(messages) : await convertToLlm(messages);
    return { ...context, messages: llm };
  }

  #hooks(): ToolHooks {
    const { beforeToolCall, afterToolCall } = this.#options;
    const around = (toolCall: { arguments: unknown }, more: object = {}) => ({
      toolCall,
      args: toolCall.arguments,
      context: this.state,
      ...more,
    });
    return {
      beforeToolCall: async (call) =>
        (await beforeToolCall?.(around(call), this.#controller?.signal)) ?? {},
      afterToolCall: async (call, result) =>
        (await afterToolCall?.(
          around(call, { result, isError: result.isError === true }),
          this.#controller?.signal,
        )) ?? {},
    };
  }
}

/** pi's view of the state; the messages are those of the loop. */
function stateOf(
  agent: Agent,
  pendingToolCalls: ReadonlySet<string>,
  given: Partial<PiState> = {},
): PiState {
  agent.replaceMessages(given.messages ?? []);
  const { messages: _, ...rest } = given;
  const state = {
    systemPrompt: "",
    model: undefined,
    thinkingLevel: "off" as const,
    tools: [],
    isStreaming: false,
    streamingMessage: undefined,
    errorMessage: undefined,
    ...rest,
  };
  return Object.defineProperties(state as unknown as PiState, {
    messages: {
      enumerable: true,
      get: () => agent.messages,
      set: (messages: AgentMessage[]) => {
        agent.replaceMessages(messages);
      },
    },
    pendingToolCalls: { enumerable: true, get: () => pendingToolCalls },
    // Member names of older hosts.
    streamMessage: { get: () => state.streamingMessage ?? null },
    error: { get: () => state.errorMessage },
  });
}

function streamOf(find: () => ProviderStream): StreamFunction {
  const opened: ProviderStream = async function* (...given) {
    yield* await find()(...given);
  };
  const never: StreamFunction = () => {
    throw new ExtensionError("not_ready", "There is nothing that answers");
  };
  return withProviderStreams(never, () => opened);
}

/** Tools of pi's agent receive no session. */
function toolOf(tool: ExtensionTool) {
  const file = { path: tool.name, realPath: tool.name, scope: "temporary" } as const;
  const owned = { tool, extension: new Extension(file) };
  return agentToolOf(owned, {} as ExtensionContext, { active: () => [], hooks: {} });
}
