import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Context, StreamOptions } from "./provider.ts";
import type { ProviderTable } from "./providers.ts";
import type { AssemblerOptions, StreamResult } from "./reply/assemble.ts";
import type { RelayReply } from "./reply/reply-output.ts";
import type { WireSchemas } from "./request/wire-schemas.ts";
import type { Connections } from "./transport/connections.ts";

/**
 * A reply while it streams. Iterate over it for events; the generator's return value is the result. It never
 * throws: a failure or an abort ends with an `error` event and a message with that stop reason.
 */
export interface AssistantStream extends AsyncGenerator<AssistantMessageEvent, StreamResult, void> {
  /** Streams the reply to a function, instead of being iterated over: an event then costs no promise. */
  readonly relay?: RelayReply | undefined;
}

/** Sends a context to a model. {@link stream} is an implementation; embedders may supply another. */
export type StreamFunction = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => AssistantStream;

/** The configuration of a stream function. */
export interface CreateStreamOptions extends AssemblerOptions {
  /** Additional wire formats by `api`; a built-in one with the same name is replaced. */
  readonly providers?: ProviderTable | undefined;
  /** A cache of tool schemas that stream functions can share; by default, each has its own. */
  readonly schemas?: WireSchemas | undefined;
  /** Connections to models that stream functions can share; by default, each has its own. */
  readonly connections?: Connections | undefined;
}
