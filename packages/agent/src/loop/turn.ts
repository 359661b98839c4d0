import type { AssistantStream, Context } from "@tau-agent/ai";
import type { AgentEvent, AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  AssistantMessage,
  ToolCall,
  ToolResultMessage,
} from "@tau-agent/rpc-protocol/messages";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { withinGrace } from "./abort-grace.ts";
import { ABORTED_TEXT, type FailureReason, failedReply, type Reply } from "./failed-reply.ts";
import { RealCalls } from "./real-calls.ts";
import { ReplyProgress } from "./reply-progress.ts";
import type { ReplyWatch } from "./reply-watch.ts";
import { addMessage, emit, type ModelRequest, type Run } from "./run.ts";
import { executeToolCalls, skipToolCalls, type ToolBatch } from "./tool-execution.ts";

/** The outcome of one model call and its tools. */
export interface TurnOutcome {
  readonly reply: Reply;
  readonly toolResults: readonly ToolResultMessage[];
  /** Whether the model must be called again for the tool results. */
  readonly continues: boolean;
  /** What stopped the reply; it decides how the run continues. */
  readonly stoppedBy?: ReplyWatch | undefined;
  /** Whether some calls remain to be decided later, so that nothing may follow. */
  readonly isSuspended?: boolean;
}

/** A reply, the tools it could call, and what stopped it, if anything did. */
interface WatchedReply {
  readonly reply: Reply;
  readonly tools: ModelRequest["tools"];
  readonly stoppedBy?: ReplyWatch | undefined;
}

type MessageUpdate = Extract<AgentEvent, { type: "message_update" }>;

/** Adds the input, calls the model and runs its tools. */
export async function runTurn(
  run: Run,
  input: readonly AgentMessage[],
  resumed?: ResumedReply,
): Promise<TurnOutcome> {
  await emit(run, { type: "turn_start" });
  const played = resumed === undefined ? play(run, input) : resume(run, resumed);
  const { reply, stoppedBy, batch } = await played.catch(async (error: unknown) => {
    // Clients rely on an end for each beginning, even if nothing can be recorded any more.
    const message = replyInstead(run, undefined, error);
    await emit(run, { type: "turn_end", message, toolResults: [] }).catch(() => undefined);
    throw error;
  });
  await emit(run, { type: "turn_end", message: reply.message, toolResults: batch.results });
  const { stopReason } = reply.message;
  const failed = stopReason === "error" || stopReason === "aborted";
  // The calls of a truncated reply never ran, so their results tell the model nothing.
  const isCut = stopReason === "length";
  const isWanted = run.options.wantsNextTurn?.() ?? false;
  const hasResults = batch.results.length > 0 && !batch.terminate && !isCut;
  const continues = !failed && (hasResults || isWanted);
  const { isSuspended = false } = batch;
  return { reply, toolResults: batch.results, continues, stoppedBy, isSuspended };
}

/** A reply of an earlier run whose last calls have not been decided. */
export interface ResumedReply {
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCall[];
}

async function resume(
  run: Run,
  { message, calls }: ResumedReply,
): Promise<WatchedReply & { readonly batch: ToolBatch }> {
  const tools =
    run.options.currentTools?.() ?? (await orAborted(run, run.options.prepareRequest())).tools;
  const batch = await executeToolCalls(run, calls, tools);
  return { reply: { message }, tools, batch };
}

async function play(
  run: Run,
  input: readonly AgentMessage[],
): Promise<WatchedReply & { readonly batch: ToolBatch }> {
  for (const message of input) await addMessage(run, message);
  const called = await callModel(run);
  return { ...called, batch: await settleToolCalls(run, called) };
}

async function settleToolCalls(
  run: Run,
  { reply: { message }, tools, stoppedBy }: WatchedReply,
): Promise<ToolBatch> {
  if (run.failure !== undefined) return { results: [], terminate: false };
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  if (stoppedBy !== undefined) {
    return { results: await skipToolCalls(run, calls, "stopped"), terminate: false };
  }
  switch (message.stopReason) {
    case "length":
      return { results: await skipToolCalls(run, calls, "length"), terminate: false };
    case "aborted":
    case "error":
      return { results: await skipToolCalls(run, calls, message.stopReason), terminate: false };
    default: {
      if (await areAdmitted(run, calls)) return executeToolCalls(run, calls, tools);
      return { results: await skipToolCalls(run, calls, "aborted"), terminate: false };
    }
  }
}

async function areAdmitted(run: Run, calls: readonly ToolCall[]): Promise<boolean> {
  const { beforeToolCalls } = run.options;
  if (calls.length === 0 || beforeToolCalls === undefined) return true;
  return orAborted(run, beforeToolCalls(calls)).then(
    () => true,
    () => false,
  );
}

/** Streams one reply; anything that prevents it becomes an error reply. */
async function callModel(run: Run): Promise<WatchedReply> {
  let request: ModelRequest | undefined;
  try {
    await run.options.beforeModelCall?.();
    request = await orAborted(run, run.options.prepareRequest());
    const context = await orAborted(run, buildContext(run, request));
    const watch = await orAborted(run, Promise.resolve(run.options.watchReply?.(run.signal)));
    const signal = watch === undefined ? run.signal : AbortSignal.any([run.signal, watch.signal]);
    const stream = run.options.stream(request.model, context, { ...request.options, signal });
    const calls = new RealCalls(run.options.resolveToolCall, {
      tools: request.tools,
      uniqueId: (id) => run.callIds.claim(id, run.messages()),
    });
    return { ...(await relay(run, stream, { watch, calls })), tools: request.tools };
  } catch (error) {
    const message = replyInstead(run, request, error);
    await addMessage(run, message);
    return { reply: { message, cause: error }, tools: request?.tools ?? [] };
  }
}

/** Waits for the work unless the run is aborted: an abort must not wait for a key or an extension. */
function orAborted<Value>({ signal }: Run, work: Promise<Value>): Promise<Value> {
  const error = (): Error => new DOMException(ABORTED_TEXT, "AbortError");
  return withinGrace(work, { signal, graceMs: 0, error });
}

async function buildContext(run: Run, request: ModelRequest): Promise<Context> {
  const context: Context = {
    systemPrompt: request.systemPrompt,
    messages: run.options.toLlmMessages(run.messages()),
    tools: request.declared ?? request.tools,
    earlier: request.earlier,
  };
  return (await run.options.transformContext?.(context)) ?? context;
}

/** Turns the stream's start and end into message events and emits what comes between. */
async function relay(
  run: Run,
  stream: AssistantStream,
  { watch, calls }: { readonly watch: ReplyWatch | undefined; readonly calls: RealCalls },
): Promise<Omit<WatchedReply, "tools">> {
  const progress = new ReplyProgress();
  // A promise only if it is needed, because each event would cost some (rows `many-sessions`).
  const pass = (streamed: AssistantMessageEvent): Promise<void> | undefined => {
    const event = calls.event(streamed);
    if (event.type === "done" || event.type === "error" || watch?.signal.aborted) return undefined;
    const update: MessageUpdate = {
      type: "message_update",
      message: event.partial,
      assistantMessageEvent: event,
    };
    const work = progress.hasStarted ? run.options.emit(update) : beginReply(run, update);
    const look = () => {
      progress.add(event);
      return watch?.look(event);
    };
    return work ? work.then(look) : look();
  };
  const end = await readStream(stream, pass, (error) => thrownReply(run, progress, error));
  // An abort of the run takes precedence, even over a reply that is being stopped.
  const stoppedBy = watch?.signal.aborted && !run.signal.aborted ? watch : undefined;
  const received = calls.message(end.message);
  const ended = stoppedBy?.conclude(received) ?? received;
  const message = await finishReply(run, ended, progress.hasStarted);
  return { reply: stoppedBy ? { message } : { ...end, message }, stoppedBy };
}

/** Passes on the events of a stream; returns its result, or what its error is turned into. */
async function readStream(
  stream: AssistantStream,
  pass: (event: AssistantMessageEvent) => Promise<void> | undefined,
  onError: (error: unknown) => Reply,
): Promise<Reply> {
  if (stream.relay !== undefined) return stream.relay(pass);
  for (;;) {
    let step: IteratorResult<AssistantMessageEvent, Reply>;
    try {
      step = await stream.next();
    } catch (error) {
      return onError(error);
    }
    if (step.done) return step.value;
    await pass(step.value);
  }
}

/** A reply starts with its message; its first event follows if it says more. */
async function beginReply(run: Run, update: MessageUpdate): Promise<void> {
  await emit(run, { type: "message_start", message: update.message });
  if (update.assistantMessageEvent.type !== "start") await emit(run, update);
}

/** A stream that throws after its start still ends what clients have seen begin. */
function thrownReply(run: Run, progress: ReplyProgress, error: unknown): Reply {
  const message = progress.endedBy(failure(run, error));
  if (message === undefined) throw error;
  return { message, cause: error };
}

/** A reply that cannot be recorded ends as failed, so that no client waits for its end. */
async function finishReply(
  run: Run,
  reply: AssistantMessage,
  started: boolean,
): Promise<AssistantMessage> {
  let message = reply;
  try {
    message = (await run.options.replaceMessage?.(reply)) ?? reply;
    await run.options.record(message);
    run.adopt(message);
  } catch (error) {
    run.failure = error;
    message = { ...reply, stopReason: "error", errorMessage: errorMessage(error) };
  }
  if (!started) await emit(run, { type: "message_start", message });
  await emit(run, { type: "message_end", message });
  return message;
}

function replyInstead(
  run: Run,
  request: ModelRequest | undefined,
  error: unknown,
): AssistantMessage {
  const model = request?.model ?? run.options.currentModel?.();
  const { api = "unknown", provider = "unknown", id = "unknown" } = model ?? {};
  return failedReply({ api, provider, model: id }, failure(run, error));
}

function failure(run: Run, error: unknown): FailureReason {
  return run.signal.aborted
    ? { stopReason: "aborted", errorMessage: ABORTED_TEXT }
    : { stopReason: "error", errorMessage: errorMessage(error) };
}
