import type { Context, StreamFunction, StreamOptions, ToolDefinition } from "@tau-agent/ai";
import type { AgentEvent, ToolResult } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  AssistantMessage,
  LlmMessage,
  Model,
  ToolCall,
} from "@tau-agent/rpc-protocol/messages";
import type { AgentTool } from "../tools/tool.ts";
import type { ToolExecutionMode } from "./call-groups.ts";
import type { CallIds } from "./call-ids.ts";
import type { MessageQueue } from "./message-queue.ts";
import type { ResolveToolCall } from "./real-calls.ts";
import type { ReplyWatch } from "./reply-watch.ts";

/** Whether steering interrupts a batch of tool calls between groups, or waits for its end. */
export type InterruptMode = "immediate" | "wait";

/** What a hook may decide before a tool runs. */
export interface BeforeToolCallResult {
  readonly block?: boolean;
  /** Why the call was blocked, for the model. */
  readonly reason?: string;
  /** For a blocked call: end the run if every result of the batch asks for it. */
  readonly terminate?: boolean;
  /** For a blocked call: the `details` of its result. */
  readonly details?: unknown;
  /** Replaces the arguments, which are validated again. */
  readonly arguments?: Record<string, unknown>;
  /**
   * The host ends before the call is decided: this call and later ones get no result, so that they can be
   * decided later.
   */
  readonly isSuspended?: boolean;
  /** Whether the user was already asked about the call. */
  readonly wasAsked?: boolean;
  /**
   * Checks once more right before the tool starts, because other calls, questions and extensions take time.
   * Returns undefined if the decision stands.
   */
  readonly confirm?: (call: ToolCall) => Promise<BeforeToolCallResult | undefined> | undefined;
  /** The rest of the decision, which may wait for the user. Calls that run together wait together. */
  readonly ask?: () => Promise<BeforeToolCallResult | undefined>;
}

/** Functions around every tool call. If `before` throws, the call is blocked. */
export interface ToolHooks {
  beforeToolCall?(
    call: ToolCall,
    tool: AgentTool,
    signal?: AbortSignal,
  ): Promise<BeforeToolCallResult | undefined>;
  /** Returned members replace those of the result. */
  afterToolCall?(
    call: ToolCall,
    result: ToolResult,
    tool?: AgentTool,
  ): Promise<Partial<ToolResult> | undefined>;
  /** Whether calls that have not begun get no result; see `isSuspended`. */
  isSuspended?(): boolean;
}

/** Asks the hooks about a call and, if they require it, the user. */
export async function decideToolCall(
  hooks: ToolHooks | undefined,
  call: ToolCall,
  { tool, signal }: { readonly tool: AgentTool; readonly signal: AbortSignal },
): Promise<BeforeToolCallResult | undefined> {
  const decision = await hooks?.beforeToolCall?.(call, tool, signal);
  return decision?.ask === undefined ? decision : decision.ask();
}

/** What a model call needs, requested before each call so that a switch takes effect at once. */
export interface ModelRequest {
  readonly model: Model;
  readonly systemPrompt: string;
  /** The tools that a call may name. */
  readonly tools: readonly AgentTool[];
  /** The tools that are shown to the model; by default, all. */
  readonly declared?: readonly ToolDefinition[] | undefined;
  /** Requests of an earlier process, whose changes are repeated. */
  readonly earlier?: Context["earlier"];
  readonly options: Omit<StreamOptions, "signal">;
}

/** Everything the loop needs from its owner. */
export interface AgentOptions {
  readonly stream: StreamFunction;
  /** @throws if the request cannot be made; this becomes an error reply. */
  readonly prepareRequest: () => Promise<ModelRequest>;
  /** The current model, named in a reply whose request was never made. */
  readonly currentModel?: (() => Model | undefined) | undefined;
  /** Stores a message before its events are sent. If it throws, the run ends with that error. */
  readonly record: (message: AgentMessage) => void | Promise<void>;
  /** Gets every event in order. The loop waits for a returned promise, so a slow reader slows it down. */
  readonly emit: (event: AgentEvent) => void | Promise<void>;
  /** Converts the conversation's messages to what the model reads. */
  readonly toLlmMessages: (messages: readonly AgentMessage[]) => LlmMessage[];
  /** Runs before each model call, when nothing is in flight; may replace the agent's messages. */
  readonly beforeModelCall?: (() => Promise<void>) | undefined;
  /** Runs before the calls of a reply begin and may delay them. If it throws, none of them runs. */
  readonly beforeToolCalls?: ((calls: readonly ToolCall[]) => Promise<void>) | undefined;
  /** May replace what one model call reads; the conversation itself is unchanged. */
  readonly transformContext?: ((context: Context) => Promise<Context>) | undefined;
  readonly hooks?: ToolHooks | undefined;
  /** Called once a call is decided, just before its tool runs; must not fail. */
  readonly beforeToolRuns?:
    | ((tool: AgentTool, call: ToolCall) => Promise<void> | undefined)
    | undefined;
  /** Runs a decided call, wrapped in the owner's own work; must call `execute` once. */
  readonly aroundTool?:
    | ((
        call: ToolCall,
        execute: () => Promise<ToolResult>,
        signal: AbortSignal,
      ) => Promise<ToolResult>)
    | undefined;
  /** The tools for a run that begins with calls of an earlier reply; by default, those of a request. */
  readonly currentTools?: (() => readonly AgentTool[]) | undefined;
  /** Maps names and arguments of other hosts' tools to real ones, which are used in events and records. */
  readonly resolveToolCall?: ResolveToolCall | undefined;
  /** May replace a tool's result, after the hooks and before it is announced and recorded. */
  readonly finishResult?: ((result: ToolResult) => ToolResult | Promise<ToolResult>) | undefined;
  /** Called when the model has nothing left to do, before follow-ups; returns messages that continue the run. */
  readonly conclude?: ((reply: AssistantMessage) => readonly AgentMessage[]) | undefined;
  /** Called after each successful `turn_end`: whether to call the model once more. */
  readonly wantsNextTurn?: (() => boolean) | undefined;
  /** Whether the run ends here although the model has more to do; it is continued later. */
  readonly pauses?: (() => boolean) | undefined;
  /** Whether no more calls of a reply may begin; the remaining calls run when the run is continued. */
  readonly holdsCalls?: (() => boolean) | undefined;
  /** May replace a complete message before it is recorded; its role must stay the same. */
  readonly replaceMessage?: (<M extends AgentMessage>(message: M) => Promise<M>) | undefined;
  /** Called before each reply. Returns undefined if nothing watches the reply, which then costs nothing. */
  readonly watchReply?: ((run: AbortSignal) => Promise<ReplyWatch | undefined>) | undefined;
}

export interface Run {
  readonly options: AgentOptions;
  readonly signal: AbortSignal;
  readonly steering: MessageQueue;
  readonly followUp: MessageQueue;
  readonly nextTurn: MessageQueue;
  readonly interruptMode: () => InterruptMode;
  readonly toolExecution: () => ToolExecutionMode;
  readonly adopt: (message: AgentMessage) => void;
  readonly messages: () => readonly AgentMessage[];
  readonly callIds: CallIds;
  /** The messages that this run has added; a compaction during the run does not affect it. */
  readonly added: AgentMessage[];
  /** Why a reply could not be recorded, which ends the run. */
  failure: unknown;
}

/** Emits without yielding to the event loop if the reader keeps up. */
export async function emit(run: Run, event: AgentEvent): Promise<void> {
  const wait = run.options.emit(event);
  if (wait) await wait;
}

/** Records a message that is complete from the start, then announces it. */
export async function addMessage(run: Run, given: AgentMessage): Promise<void> {
  const message = (await run.options.replaceMessage?.(given)) ?? given;
  await run.options.record(message);
  run.adopt(message);
  await emit(run, { type: "message_start", message });
  await emit(run, { type: "message_end", message });
}
