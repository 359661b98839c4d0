import type { AssistantStream, Context, StreamResult } from "@tau-agent/ai";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  AssistantMessage,
  ToolCall,
  ToolResultMessage,
} from "@tau-agent/rpc-protocol/messages";
import { addMessage, emit, type ModelRequest, type Run } from "./run.ts";
import { executeToolCalls, skipToolCalls, type ToolBatch } from "./tool-execution.ts";

/** One model call with its tools. */
export interface TurnOutcome {
  readonly reply: StreamResult;
  readonly toolResults: readonly ToolResultMessage[];
  /** Whether the model has to be called again for the tool results. */
  readonly continues: boolean;
}

/** Adds the input, calls the model, runs its tools. */
export async function runTurn(run: Run, input: readonly AgentMessage[]): Promise<TurnOutcome> {
  await emit(run, { type: "turn_start" });
  for (const message of input) await addMessage(run, message);
  const { reply, tools } = await callModel(run);
  const batch = await settleToolCalls(run, reply.message, tools);
  await emit(run, { type: "turn_end", message: reply.message, toolResults: batch.results });
  const { stopReason } = reply.message;
  const failed = stopReason === "error" || stopReason === "aborted";
  return {
    reply,
    toolResults: batch.results,
    continues: batch.results.length > 0 && !failed && !batch.terminate,
  };
}

async function settleToolCalls(
  run: Run,
  message: AssistantMessage,
  tools: ModelRequest["tools"],
): Promise<ToolBatch> {
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  switch (message.stopReason) {
    case "length":
      return { results: await skipToolCalls(run, calls, "length"), terminate: false };
    case "aborted":
    case "error":
      return { results: await skipToolCalls(run, calls, "aborted"), terminate: false };
    default:
      return executeToolCalls(run, calls, tools);
  }
}

/** Streams one reply; whatever keeps it from being made becomes an error reply. */
async function callModel(run: Run): Promise<{ reply: StreamResult; tools: ModelRequest["tools"] }> {
  let request: ModelRequest | undefined;
  try {
    await run.options.beforeModelCall?.();
    request = await run.options.prepareRequest();
    const context = await buildContext(run, request);
    const options = { ...request.options, signal: run.signal };
    const reply = await relay(run, run.options.stream(request.model, context, options));
    return { reply, tools: request.tools };
  } catch (error) {
    if (error instanceof RecordFailure) throw error.cause;
    const message = failedReply(run, request, error);
    await addMessage(run, message);
    return { reply: { message }, tools: request?.tools ?? [] };
  }
}

async function buildContext(run: Run, request: ModelRequest): Promise<Context> {
  const context: Context = {
    systemPrompt: request.systemPrompt,
    messages: run.options.toLlmMessages(run.messages()),
    tools: request.tools,
  };
  return (await run.options.transformContext?.(context)) ?? context;
}

/** Storing a finished reply failed; not to be mistaken for a failed request. */
class RecordFailure extends Error {
  override readonly name = "RecordFailure";
}

/** Turns the stream's start and end into message events and passes on what lies between. */
async function relay(run: Run, stream: AssistantStream): Promise<StreamResult> {
  let started = false;
  for (;;) {
    const step = await stream.next();
    if (step.done) {
      await finishReply(run, step.value.message, started);
      return step.value;
    }
    const event: AssistantMessageEvent = step.value;
    if (event.type === "done" || event.type === "error") continue;
    const message = event.partial;
    const wait = started
      ? run.options.emit({ type: "message_update", message, assistantMessageEvent: event })
      : run.options.emit({ type: "message_start", message });
    if (wait) await wait;
    if (!started && event.type !== "start") {
      await emit(run, { type: "message_update", message, assistantMessageEvent: event });
    }
    started = true;
  }
}

async function finishReply(run: Run, message: AssistantMessage, started: boolean): Promise<void> {
  try {
    await run.options.record(message);
  } catch (cause) {
    throw new RecordFailure("The reply could not be recorded", { cause });
  }
  run.adopt(message);
  if (!started) await emit(run, { type: "message_start", message });
  await emit(run, { type: "message_end", message });
}

function failedReply(
  run: Run,
  request: ModelRequest | undefined,
  error: unknown,
): AssistantMessage {
  const { aborted } = run.signal;
  const reason = error instanceof Error ? error.message : String(error);
  return {
    role: "assistant",
    content: [],
    api: request?.model.api ?? "unknown",
    provider: request?.model.provider ?? "unknown",
    model: request?.model.id ?? "unknown",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: aborted ? "aborted" : "error",
    errorMessage: aborted ? "Request was aborted" : reason,
    timestamp: Date.now(),
  };
}
