import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import { builtInProviders } from "./providers.ts";
import type { StreamResult } from "./reply/assemble.ts";
import type { AssistantStream, CreateStreamOptions, StreamFunction } from "./stream-function.ts";

export type { AssistantStream, CreateStreamOptions, StreamFunction, StreamResult };

const loadReplies = (): Promise<typeof import("./stream-reply.ts")> => import("./stream-reply.ts");

/** The modules that the first request of a wire format loads, in pieces. */
export function replyPieces(api: string): readonly (() => Promise<unknown>)[] {
  const loadFormat = async () => (await builtInProviders[api]?.())?.load?.();
  return [loadReplies, loadFormat];
}

/** Creates a stream function, for example to add wire formats. */
export function createStream(options: CreateStreamOptions = {}): StreamFunction {
  let loading: Promise<StreamFunction> | undefined;
  // Loaded lazily, because a starting host needs no reply yet (bench row `start`).
  const load = (): Promise<StreamFunction> => {
    loading ??= loadReplies().then((module) => module.createReplyStream(options));
    return loading;
  };
  return (model, context, request) =>
    new LoadedStream(load, (stream) => stream(model, context, request));
}

/** Sends a context to a model over one of the built-in wire formats. */
export const stream: StreamFunction = createStream();

/** A stream whose code is loaded when it is first read. Adds no overhead to later events. */
class LoadedStream implements AssistantStream {
  readonly #load: () => Promise<StreamFunction>;
  readonly #begin: (stream: StreamFunction) => AssistantStream;
  #beginning: Promise<AssistantStream> | undefined;
  #stream: AssistantStream | undefined;

  constructor(
    load: () => Promise<StreamFunction>,
    begin: (stream: StreamFunction) => AssistantStream,
  ) {
    this.#load = load;
    this.#begin = begin;
  }

  next(): Promise<IteratorResult<AssistantMessageEvent, StreamResult>> {
    return this.#stream?.next() ?? this.#started().then((stream) => stream.next());
  }

  return(
    value: StreamResult | PromiseLike<StreamResult>,
  ): Promise<IteratorResult<AssistantMessageEvent, StreamResult>> {
    return this.#started().then((stream) => stream.return(value));
  }

  throw(error: unknown): Promise<IteratorResult<AssistantMessageEvent, StreamResult>> {
    return this.#started().then((stream) => stream.throw(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started().then((stream) => stream[Symbol.asyncDispose]());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #started(): Promise<AssistantStream> {
    this.#beginning ??= this.#load().then((stream) => {
      this.#stream = this.#begin(stream);
      return this.#stream;
    });
    return this.#beginning;
  }
}
