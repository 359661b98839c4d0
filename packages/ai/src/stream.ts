import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { Assembler, type AssemblerOptions, type StreamResult } from "./reply/assemble.ts";
import { classifyFailure, isProviderError, ProviderError } from "./errors.ts";
import { GrowingJson } from "./request/growing-json.ts";
import { prepareContext } from "./request/history.ts";
import { LastMade } from "./request/last-made.ts";
import { Memo } from "./request/memo.ts";
import type { Context, Provider, StreamOptions } from "./provider.ts";
import { builtInProviders, type ProviderTable } from "./providers.ts";
import { ReplyGuard } from "./reply-guard.ts";

export type { StreamResult };

/**
 * A reply while it streams. Iterate for events; the generator's return value is the result. It never
 * throws: a failure or an abort ends in an `error` event and a message with that stop reason.
 */
export type AssistantStream = AsyncGenerator<AssistantMessageEvent, StreamResult, void>;

/** Sends a context to a model. {@link stream} is one; embedders may bring another. */
export type StreamFunction = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => AssistantStream;

/** What a stream function is made from. */
export interface CreateStreamOptions extends AssemblerOptions {
  /** Wire formats beside the built-in ones, by `api`; the same name replaces. */
  readonly providers?: ProviderTable | undefined;
}

/** Makes a stream function; the way to bring further wire formats. */
export function createStream(options: CreateStreamOptions = {}): StreamFunction {
  const providers = { ...builtInProviders, ...options.providers };
  const kept = {
    history: new Memo(),
    encoding: new Memo(),
    client: new LastMade(),
    known: new GrowingJson(),
  };
  return (model, context, request) => run({ model, context, request, providers, options, kept });
}

/** Sends a context to a model over one of the built-in wire formats. */
export const stream: StreamFunction = createStream();

interface Run {
  readonly model: Model;
  readonly context: Context;
  readonly request: StreamOptions;
  readonly providers: ProviderTable;
  readonly options: AssemblerOptions;
  /** From one request to the next. */
  readonly kept: {
    readonly history: Memo;
    readonly encoding: Memo;
    readonly client: LastMade;
    readonly known: GrowingJson;
  };
}

/** Usage may come after the terminal event, but nobody waits for it longer than this. */
const afterStopMs = 1_000;
const defaultIdleTimeoutMs = 300_000;

async function* run(task: Run): AssistantStream {
  const { model, request } = task;
  const assembler = new Assembler(model, task.options);
  const guard = new ReplyGuard(request.signal);
  let provider: Provider | undefined;
  try {
    yield assembler.start();
    provider = await guard.wait(() => load(task));
    const chunks = await open(task, provider, guard);
    const reduce = provider.reduce(model);
    guard.watch(request.firstEventTimeoutMs, "The model sent no event");
    for (;;) {
      const next = await readNext(chunks, guard, assembler.hasStopped);
      if (next.done) break;
      guard.watch(request.idleTimeoutMs ?? defaultIdleTimeoutMs, "The model went silent");
      const seen = request.onStreamEvent?.(next.value);
      if (seen) await guard.wait(() => seen);
      for (const delta of reduce(next.value)) yield* assembler.push(delta);
      if (!assembler.hasStopped) continue;
      if (provider.endsAtStop) break;
      guard.watch(afterStopMs, "");
    }
    const { events, result } = assembler.finish();
    guard.drain(chunks, afterStopMs);
    yield* events;
    return result;
  } catch (thrown) {
    const error = asProviderError(guard.failure ?? thrown, provider);
    guard.cancel();
    const { events, result } = assembler.fail(error);
    yield* events;
    return result;
  } finally {
    guard.release();
  }
}

async function load({ model, providers }: Run): Promise<Provider> {
  const loader = Object.hasOwn(providers, model.api) ? providers[model.api] : undefined;
  if (loader !== undefined) return loader();
  throw new ProviderError({
    code: "invalid_request",
    message: `Model ${model.provider}/${model.id} speaks ${model.api}, which is none of: ${Object.keys(providers).join(", ")}`,
  });
}

/** The vendor's request, made anew only where the conversation is new. */
function encode({ model, context, request, kept }: Run, provider: Provider): unknown {
  // Who sees the payload may also change it: then it must not be what the next turn starts from.
  const { history, encoding } = request.onPayload
    ? { history: new Memo(), encoding: new Memo() }
    : kept;
  const prepared = prepareContext(model, context, {
    normalizeToolCallId: (id, call, source) =>
      provider.normalizeToolCallId?.(id, call, source) ?? id,
    imageLimits: provider.imageLimits?.(model),
    memo: history,
  });
  return provider.encode(model, prepared, { ...request, memo: encoding });
}

async function open(
  task: Run,
  provider: Provider,
  guard: ReplyGuard,
): Promise<AsyncIterator<unknown>> {
  const { model, request } = task;
  const encoded = encode(task, provider);
  const replaced = await guard.wait(async () => request.onPayload?.(encoded));
  guard.watch(request.firstEventTimeoutMs, "The model sent no event");
  const { client, known } = task.kept;
  const isOurs = request.onPayload === undefined;
  const options = { ...request, signal: guard.signal, client, known: isOurs ? known : undefined };
  const chunks = await guard.wait(() => provider.open(model, replaced ?? encoded, options));
  return chunks[Symbol.asyncIterator]();
}

/** After the terminal event nothing that goes wrong matters any more. */
async function readNext(
  chunks: AsyncIterator<unknown>,
  guard: ReplyGuard,
  hasStopped: boolean,
): Promise<IteratorResult<unknown>> {
  try {
    return await guard.wait(() => chunks.next());
  } catch (error) {
    if (!hasStopped || guard.hasUserAborted) throw error;
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
