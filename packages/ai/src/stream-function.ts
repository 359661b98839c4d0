import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Context, StreamOptions } from "./provider.ts";
import type { ProviderTable } from "./providers.ts";
import type { AssemblerOptions, StreamResult } from "./reply/assemble.ts";
import type { WireSchemas } from "./request/wire-schemas.ts";

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
  /** What stream functions share of the tools that they send; by default each has its own. */
  readonly schemas?: WireSchemas | undefined;
}
