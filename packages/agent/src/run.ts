import type { Context, StreamFunction, StreamOptions } from "@tau-agent/ai";
import type { AgentEvent, ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, LlmMessage, Model, ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { MessageQueue } from "./message-queue.ts";
import type { ResolveToolCall } from "./real-calls.ts";
import type { ReplyWatch } from "./reply-watch.ts";
import type { AgentTool } from "./tool.ts";

/** Whether steering interrupts a batch of tool calls between groups, or waits for its end. */
export type InterruptMode = "immediate" | "wait";

/** What a hook before a tool may decide. */
export interface BeforeToolCallResult {
  readonly block?: boolean;
  /** Why it was blocked, for the model. */
  readonly reason?: string;
  /** Of a blocked call: ends the run when every result of the batch asks for it. */
  readonly terminate?: boolean;
  /** Replaces the arguments; validated again. */
  readonly arguments?: Record<string, unknown>;
}

/** Functions around every tool call. One that throws before a call blocks it. */
export interface ToolHooks {
  beforeToolCall?(call: ToolCall, tool: AgentTool): Promise<BeforeToolCallResult | undefined>;
  /** Fields that are given replace those of the result. */
  afterToolCall?(call: ToolCall, result: ToolResult): Promise<Partial<ToolResult> | undefined>;
}

/** What a model call needs, asked for anew before each, so that a switch takes effect at once. */
export interface ModelRequest {
  readonly model: Model;
  readonly systemPrompt: string;
  readonly tools: readonly AgentTool[];
  readonly options: Omit<StreamOptions, "signal">;
}

/** Everything the loop needs from its owner. */
export interface AgentOptions {
  readonly stream: StreamFunction;
  /** @throws what keeps a request from being made; it becomes an error reply. */
  readonly prepareRequest: () => Promise<ModelRequest>;
  /** Stores a message before its events leave. A throw ends the run with that error. */
  readonly record: (message: AgentMessage) => void | Promise<void>;
  /** Gets every event in order; the loop waits for a promise, which is how a slow reader slows it. */
  readonly emit: (event: AgentEvent) => void | Promise<void>;
  /** What the model reads for the messages of the conversation. */
  readonly toLlmMessages: (messages: readonly AgentMessage[]) => LlmMessage[];
  /** Runs before each model call, when nothing is in flight; may replace the agent's messages. */
  readonly beforeModelCall?: (() => Promise<void>) | undefined;
  /** May replace what one model call reads; the conversation itself stays. */
  readonly transformContext?: ((context: Context) => Promise<Context>) | undefined;
  readonly hooks?: ToolHooks | undefined;
  /** Understands names and arguments of other hosts' tools; events and records carry the real ones. */
  readonly resolveToolCall?: ResolveToolCall | undefined;
  /** May replace what a tool gave, hooks included, before it is told and recorded. */
  readonly finishResult?: ((result: ToolResult) => ToolResult | Promise<ToolResult>) | undefined;
  /** Asked after each `turn_end` that did not fail: whether the model is to be called once more. */
  readonly wantsNextTurn?: (() => boolean) | undefined;
  /** May replace a message that is complete before it is recorded; its role has to stay. */
  readonly replaceMessage?: (<M extends AgentMessage>(message: M) => Promise<M>) | undefined;
  /** Asked before each reply; undefined for one that nobody watches, which then costs nothing. */
  readonly watchReply?: ((run: AbortSignal) => Promise<ReplyWatch | undefined>) | undefined;
}

/** The state one run works on. */
export interface Run {
  readonly options: AgentOptions;
  readonly signal: AbortSignal;
  readonly steering: MessageQueue;
  readonly followUp: MessageQueue;
  readonly nextTurn: MessageQueue;
  readonly interruptMode: () => InterruptMode;
  /** Adds a message to the conversation; it has been recorded. */
  readonly adopt: (message: AgentMessage) => void;
  readonly messages: () => readonly AgentMessage[];
  /** What this run has added; a compaction in between does not touch it. */
  readonly added: AgentMessage[];
  /** Ids of tool calls that have started and not settled. */
  readonly pendingToolCalls: Set<string>;
  /** Why a reply could not be recorded; ends the run. */
  failure: unknown;
}

/** Emits without a turn of the event loop when the reader keeps up. */
export async function emit(run: Run, event: AgentEvent): Promise<void> {
  const wait = run.options.emit(event);
  if (wait) await wait;
}

/** Records a message that is complete from the start, then says so. */
export async function addMessage(run: Run, given: AgentMessage): Promise<void> {
  const message = (await run.options.replaceMessage?.(given)) ?? given;
  await run.options.record(message);
  run.adopt(message);
  await emit(run, { type: "message_start", message });
  await emit(run, { type: "message_end", message });
}
