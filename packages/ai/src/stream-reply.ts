import type { AssistantMessage, Model, ToolCall } from "@tau-agent/rpc-protocol/messages";
import { classifyFailure, isProviderError, ProviderError } from "./errors.ts";
import { requestHeaders } from "./github-copilot/request-headers.ts";
import { nameProvider } from "./name-provider.ts";
import type { Context, Delta, Provider, Reducer, StreamOptions } from "./provider.ts";
import { builtInProviders, LoadedProviders } from "./providers.ts";
import { Assembler, type AssemblerOptions } from "./reply/assemble.ts";
import { GatheredText } from "./reply/gathered-text.ts";
import { NamedCalls } from "./reply/named-calls.ts";
import { ReplyGuard } from "./reply-guard.ts";
import { ToolFitter } from "./request/fit-tools.ts";
import { fittingLimit } from "./request/fitting-limit.ts";
import { fitContext } from "./request/history.ts";
import { InputEstimate } from "./request/input-estimate.ts";
import { Memo } from "./request/memo.ts";
import type { AssistantStream, CreateStreamOptions, StreamFunction } from "./stream-function.ts";
import { Connections } from "./transport/connections.ts";
import { defaultFetch, HttpTransport } from "./transport/http-transport.ts";
import type { Read } from "./transport/reply.ts";

/**
 * Creates the function that streams replies: the pipeline from context to request, and from the vendor's
 * events to ours. {@link createStream} loads this module with the first request.
 */
export function createReplyStream(options: CreateStreamOptions = {}): StreamFunction {
  const providers = new LoadedProviders({ ...builtInProviders, ...options.providers });
  const tools = new ToolFitter(options.schemas);
  const { connections = new Connections() } = options;
  const transport = connections.transport(() => new HttpTransport());
  const kept = { history: new Memo(), estimate: new InputEstimate(), tools, transport };
  return (model, context, given) => {
    const request =
      given.fetch === undefined ? { ...given, fetch: defaultFetch(transport) } : given;
    return run({ model, context, request, providers, options, ...kept });
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
  /** Whether this is the retry after the vendor refused the first output limit. */
  readonly isSecondTry?: boolean;
}

/** Usage may follow the terminal event, but is not waited for any longer. */
const afterStopMs = 1_000;
const defaultIdleTimeoutMs = 300_000;
const silence = "The model went silent";

async function* run(task: Run): AssistantStream {
  const { model, request, transport } = task;
  const { secrets = [], apiKey = "" } = request;
  const assembler = new Assembler(model, { ...task.options, secrets: [apiKey, ...secrets] });
  const gathered = new GatheredText();
  const heldEvents = () => gathered.release().flatMap((text) => assembler.push(text));
  const guard = new ReplyGuard(request.signal);
  let provider: Provider | undefined;
  let sent: StreamOptions | undefined;
  try {
    if (task.isSecondTry !== true) yield assembler.start();
    provider = await guard.wait(() => task.providers.load(model));
    const { encoded, ownNames, namedCalls, options } = encode(task, provider);
    sent = options;
    const chunks = await open(task, provider, encoded, guard);
    const read = chunks.read ?? ((resolve, reject) => void chunks.next().then(resolve, reject));
    const reduce = provider.reduce(model);
    const take = (delta: Delta) => {
      const own = withOwnName(delta, ownNames);
      if (!transport.gathers && !gathered.isHeld) return assembler.push(own);
      return gathered.take(own).flatMap((complete) => assembler.push(complete));
    };
    let hasBegun = false;
    for (;;) {
      let chunk = takeNext(chunks, guard);
      if (chunk === undefined) {
        if (gathered.isHeld) for (const event of heldEvents()) yield event;
        const reading = guard.read(read);
        const next = await (assembler.hasStopped ? endQuietly(reading, guard) : reading);
        if (next.done) break;
        chunk = next.value;
      }
      hasBegun ||= !isSignOfLife(chunk);
      if (hasBegun) guard.watch(idleLimit(request), silence);
      const seen = request.onStreamEvent?.(chunk);
      if (seen) await guard.wait(() => seen);
      for (const delta of readChunk(reduce, chunk)) {
        // Not `yield*`, which creates another promise per event (row "text stream of 16 000 deltas").
        for (const event of namedCalls?.read(delta)?.flatMap(take) ?? take(delta)) yield event;
      }
      if (!assembler.hasStopped) continue;
      if (provider.endsAtStop) break;
      guard.watch(afterStopMs, "");
    }
    yield* heldEvents();
    const { events, result } = assembler.finish();
    const smaller = withSmallerLimit(task, result.error, sent, assembler);
    if (smaller !== undefined) return yield* run(smaller);
    const isKept = result.error === undefined && request.renewsCache !== true;
    if (isKept) provider.remember?.(encoded, result.message);
    guard.drain(chunks, afterStopMs);
    yield* events;
    return result;
  } catch (thrown) {
    const placed = placedModel(model, request);
    const baseUrl = provider?.address?.(placed, request) ?? placed.baseUrl;
    const place = { ...model, baseUrl };
    const error = nameProvider(asProviderError(guard.failure ?? thrown, provider), place, request);
    guard.cancel();
    yield* heldEvents();
    const smaller = withSmallerLimit(task, error, sent, assembler);
    if (smaller !== undefined) return yield* run(smaller);
    const { events, result } = assembler.fail(error);
    yield* events;
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

/**
 * `take` saves a promise for each chunk of a burst (row "text stream of 16 000 deltas"), `read` one for each
 * chunk that is waited for (rows `many-sessions`).
 */
type ChunkIterator = AsyncIterator<unknown, undefined> & {
  take?(): unknown;
  readonly read?: Read<unknown>;
};

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

/** Restores the tool's own name; only the vendor sees the converted one. */
function withOwnName(delta: Delta, ownNames: ReadonlyMap<string, string>): Delta {
  if (delta.type !== "tool_call" || delta.name === undefined) return delta;
  return { ...delta, name: ownNames.get(delta.name) ?? delta.name };
}

/** A reducer fails only on undocumented input, and a retry may return readable input. */
function readChunk(reduce: Reducer<unknown>, chunk: unknown): Iterable<Delta> {
  try {
    const deltas = reduce(chunk);
    // An array can be read without a generator (rows `many-sessions`).
    return Array.isArray(deltas) ? deltas : readDeltas(deltas);
  } catch (error) {
    throw unreadable(error);
  }
}

function* readDeltas(deltas: Iterable<Delta>): Iterable<Delta> {
  try {
    yield* deltas;
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof TypeError || error instanceof RangeError)) return error;
  const message = `The server sent an event that cannot be read: ${error.message}`;
  return new ProviderError({ code: "overloaded", message, cause: error });
}

/** A chunk that has already arrived, if the stream can tell; nothing after a reply has failed. */
function takeNext(chunks: ChunkIterator, guard: ReplyGuard): unknown {
  return guard.failure === undefined ? chunks.take?.() : undefined;
}

/** After the terminal event, errors no longer matter. */
async function endQuietly(
  reading: Promise<IteratorResult<unknown>>,
  guard: ReplyGuard,
): Promise<IteratorResult<unknown>> {
  try {
    return await reading;
  } catch (error) {
    if (guard.hasUserAborted) throw error;
    return { done: true, value: undefined };
  }
}

function asProviderError(error: unknown, provider: Provider | undefined): ProviderError {
  if (isProviderError(error)) {
    return error instanceof ProviderError ? error : new ProviderError(error);
  }
  const message = error instanceof Error ? error.message : String(error);
  const init = provider?.classify(error) ?? classifyFailure({ message, cause: error });
  return new ProviderError(init);
}
