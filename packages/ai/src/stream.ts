import { builtInProviders } from "./providers.ts";
import type { StreamResult } from "./reply/assemble.ts";
import { relayedStream } from "./reply/relayed-stream.ts";
import type { AssistantStream, CreateStreamOptions, StreamFunction } from "./stream-function.ts";
import type { ReplyFunction } from "./stream-reply.ts";

export type { AssistantStream, CreateStreamOptions, StreamFunction, StreamResult };

const loadReplies = (): Promise<typeof import("./stream-reply.ts")> => import("./stream-reply.ts");

/** The modules that the first request of a wire format loads, in pieces. */
export function replyPieces(api: string): readonly (() => Promise<unknown>)[] {
  const loadFormat = async () => (await builtInProviders[api]?.())?.load?.();
  return [loadReplies, loadFormat];
}

/** Creates a stream function, for example to add wire formats. */
export function createStream(options: CreateStreamOptions = {}): StreamFunction {
  let loading: Promise<ReplyFunction> | undefined;
  // Loaded lazily, because a starting host needs no reply yet (bench row `start`).
  const load = (): Promise<ReplyFunction> => {
    loading ??= loadReplies().then((module) => module.createReplies(options));
    return loading;
  };
  return (...request) =>
    relayedStream(async (onEvent) => {
      const reply = await load();
      return reply(onEvent, ...request);
    });
}

/** Sends a context to a model over one of the built-in wire formats. */
export const stream: StreamFunction = createStream();
