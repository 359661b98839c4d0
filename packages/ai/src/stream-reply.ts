import type { AssistantMessage, Model, ToolCall } from "@tau-agent/rpc-protocol/messages";
import { classifyFailure, isProviderError, ProviderError } from "./errors.ts";
import { requestHeaders } from "./github-copilot/request-headers.ts";
import { nameProvider } from "./name-provider.ts";
import type { Context, Provider, StreamOptions } from "./provider.ts";
import { builtInProviders, LoadedProviders } from "./providers.ts";
import { Assembler, type AssemblerOptions, type StreamResult } from "./reply/assemble.ts";
import { type ChunkIterator, eachChunk } from "./reply/each-chunk.ts";
import { NamedCalls } from "./reply/named-calls.ts";
import { ReplyEvents } from "./reply/reply-events.ts";
import { type OnReplyEvent, ReplyOutput, type Work } from "./reply/reply-output.ts";
import { ReplyGuard } from "./reply-guard.ts";
import { ToolFitter } from "./request/fit-tools.ts";
import { fittingLimit } from "./request/fitting-limit.ts";
import { fitContext } from "./request/history.ts";
import { InputEstimate } from "./request/input-estimate.ts";
import { Memo } from "./request/memo.ts";
import type { CreateStreamOptions, StreamFunction } from "./stream-function.ts";
import { Connections } from "./transport/connections.ts";
import { defaultFetch, HttpTransport } from "./transport/http-transport.ts";

/** Streams the reply to a request; see {@link StreamFunction} and {@link RelayReply}. */
export type ReplyFunction = (
  onEvent: OnReplyEvent,
  ...request: Parameters<StreamFunction>
) => Promise<StreamResult>;

/**
 * Creates the function that streams replies: the pipeline from context to request, and from the vendor's
 * events to ours. {@link createStream} loads this module with the first request.
 */
export function createReplies(options: CreateStreamOptions = {}): ReplyFunction {
  const providers = new LoadedProviders({ ...builtInProviders, ...options.providers });
  const tools = new ToolFitter(options.schemas);
  const { connections = new Connections() } = options;
  const transport = connections.transport(() => new HttpTransport());
  const kept = { history: new Memo(), estimate: new InputEstimate(), tools, transport };
  return (onEvent, model, context, given) => {
    const request =
      given.fetch === undefined ? { ...given, fetch: defaultFetch(transport) } : given;
    const output = new ReplyOutput(onEvent);
    return run({ model, context, request, providers, options, output, ...kept });
  };
}

interface Run {
  readonly model: Model;
  readonly context: Context;
  readonly request: StreamOptions;
  readonly providers: LoadedProviders;
  readonly options: AssemblerOptions;
  /** Messages as adapted for earlier requests. */
  readonly history: Memo;
  readonly estimate: InputEstimate;
  readonly tools: ToolFitter;
  readonly transport: HttpTransport;
  readonly output: ReplyOutput;
  /** Whether this is the retry after the vendor refused the first output limit. */
  readonly isSecondTry?: boolean;
}

/** Usage may follow the terminal event, but is not waited for any longer. */
const afterStopMs = 1_000;
const defaultIdleTimeoutMs = 300_000;
const silence = "The model went silent";

async function run(task: Run): Promise<StreamResult> {
  const { model, request, transport, output } = task;
  const { secrets = [], apiKey = "" } = request;
  const assembler = new Assembler(model, { ...task.options, secrets: [apiKey, ...secrets] });
  const guard = new ReplyGuard(request.signal);
  let replyEvents: ReplyEvents | undefined;
  const release = (): Work => output.pass(replyEvents?.release() ?? []);
  let provider: Provider | undefined;
  let sent: StreamOptions | undefined;
  try {
    if (task.isSecondTry !== true) await output.pass([assembler.start()]);
    provider = await guard.wait(() => task.providers.load(model));
    const { encoded, ownNames, namedCalls, options } = encode(task, provider);
    sent = options;
    const chunks = await open(task, provider, encoded, guard);
    const { endsAtStop } = provider;
    const reduce = provider.reduce(model);
    const gathers = (): boolean => transport.gathers;
    const received = new ReplyEvents({ reduce, assembler, ownNames, namedCalls, gathers });
    replyEvents = received;
    const passOn = (chunk: unknown): Work => {
      if (guard.failure !== undefined) return undefined;
      const events = received.of(chunk);
      const { error } = received;
      if (assembler.hasStopped && !endsAtStop) guard.watch(afterStopMs, "");
      const work = output.pass(events);
      if (error === undefined) return guard.pause(work);
      return Promise.resolve(work).then(() => Promise.reject(error));
    };
    let hasBegun = false;
    const onChunk = (chunk: unknown): Work => {
      hasBegun ||= !isSignOfLife(chunk);
      if (hasBegun) guard.watch(idleLimit(request), silence);
      const seen = request.onStreamEvent?.(chunk);
      return seen ? seen.then(() => passOn(chunk)) : passOn(chunk);
    };
    const hasEnded = () =>
      guard.failure !== undefined || (assembler.hasStopped && endsAtStop === true);
    const reader = { onChunk, onPause: () => guard.pause(release()), hasEnded };
    const reading = guard.read<void>((...ended) => eachChunk(chunks, reader, ...ended));
    await reading.catch((error: unknown) => {
      // After the terminal event, errors no longer matter.
      if (!assembler.hasStopped || guard.hasUserAborted) throw error;
    });
    await release();
    const { events, result } = assembler.finish();
    const smaller = withSmallerLimit(task, result.error, sent, assembler);
    if (smaller !== undefined) return await run(smaller);
    const isKept = result.error === undefined && request.renewsCache !== true;
    if (isKept) provider.remember?.(encoded, result.message);
    guard.drain(chunks, afterStopMs);
    await output.pass(events);
    return result;
  } catch (thrown) {
    guard.cancel();
    await output.ready();
    const placed = placedModel(model, request);
    const baseUrl = provider?.address?.(placed, request) ?? placed.baseUrl;
    const place = { ...model, baseUrl };
    const error = nameProvider(asProviderError(guard.failure ?? thrown, provider), place, request);
    await release();
    const smaller = withSmallerLimit(task, error, sent, assembler);
    if (smaller !== undefined) return await run(smaller);
    const { events, result } = assembler.fail(error);
    await output.pass(events);
    return result;
  } finally {
    guard.release();
  }
}

/** Encodes the vendor's request; only the new part of the conversation has to be encoded. */
function encode(
  task: Run,
  provider: Provider,
): {
  encoded: unknown;
  ownNames: ReadonlyMap<string, string>;
  namedCalls: NamedCalls | undefined;
  options: StreamOptions;
} {
  const { model, context, request, history, estimate, tools: fitter } = task;
  for (const { thinkingLevel, reply, ...earlier } of context.earlier ?? []) {
    const repeated = { ...task, context: earlier, request: { ...request, thinkingLevel } };
    const { encoded } = encode(repeated, provider);
    provider.remember?.(encoded, reply);
  }
  const { tools, ownNames, leftOut } = fitter.fit(model.api, context.tools ?? []);
  for (const diagnostic of leftOut) {
    if (fitter.isNews(diagnostic)) request.onDiagnostic?.(diagnostic);
  }
  const rules = {
    normalizeToolCallId: (id: string, call: ToolCall, source: AssistantMessage) =>
      provider.normalizeToolCallId?.(id, call, source) ?? id,
    imageLimits: provider.imageLimits?.(model),
  };
  // A callback that sees the payload may also modify it, so the next turn must not reuse it.
  const memo = request.onPayload === undefined ? history : new Memo();
  const fitted = fitContext(model, { ...context, tools }, rules, memo);
  const options = { ...request, inputTokens: request.inputTokens ?? estimate.of(model, fitted) };
  const caller = tools.find(({ callsByName }) => callsByName)?.name;
  const namedCalls = caller === undefined ? undefined : new NamedCalls(caller);
  return { encoded: provider.encode(model, fitted, options), ownNames, namedCalls, options };
}

/**
 * The task with an output limit derived from the vendor's own numbers, if the vendor refused the first limit
 * before a reply began.
 */
function withSmallerLimit(
  task: Run,
  error: ProviderError | undefined,
  sent: StreamOptions | undefined,
  { hasContent }: Assembler,
): Run | undefined {
  if (error === undefined || sent === undefined || hasContent || task.isSecondTry) return undefined;
  const maxTokens = fittingLimit(error, task.model, sent);
  if (maxTokens === undefined) return undefined;
  return { ...task, request: { ...task.request, maxTokens }, isSecondTry: true };
}

async function open(
  task: Run,
  provider: Provider,
  encoded: unknown,
  guard: ReplyGuard,
): Promise<ChunkIterator> {
  const { model, context, request } = task;
  const replaced = await guard.wait(async () => request.onPayload?.(encoded));
  guard.watch(request.firstEventTimeoutMs, "The model sent no event");
  const added = requestHeaders(model, context, request);
  const headers = added === undefined ? request.headers : { ...added, ...request.headers };
  const options = { ...request, headers, signal: guard.signal };
  const placed = placedModel(model, request);
  const chunks = await guard.wait(() => provider.open(placed, replaced ?? encoded, options));
  // After the headers, silence also counts, but the limit for the first event still applies.
  guard.shorten(idleLimit(request), silence);
  return chunks[Symbol.asyncIterator]();
}

/** The model at the address that a login supplies. Requests encoded for the model itself stay valid. */
function placedModel(model: Model, { baseUrl }: StreamOptions): Model {
  return baseUrl === undefined ? model : { ...model, baseUrl };
}

function idleLimit({ idleTimeoutMs = defaultIdleTimeoutMs }: StreamOptions): number {
  return idleTimeoutMs;
}

/**
 * Events that only keep a connection open. They are not part of the reply, but once it has begun, they show
 * that the model still works on it. Comments do not arrive here.
 */
function isSignOfLife(chunk: unknown): boolean {
  if (typeof chunk !== "object" || chunk === null) return true;
  return "type" in chunk && (chunk.type === "ping" || chunk.type === "keepalive");
}

function asProviderError(error: unknown, provider: Provider | undefined): ProviderError {
  if (isProviderError(error)) {
    return error instanceof ProviderError ? error : new ProviderError(error);
  }
  const message = error instanceof Error ? error.message : String(error);
  const init = provider?.classify(error) ?? classifyFailure({ message, cause: error });
  return new ProviderError(init);
}
