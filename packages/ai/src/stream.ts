import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import type { ProviderError } from "./errors.ts";
import type { Context, StreamOptions } from "./provider.ts";

/** The final message of a reply, with the typed error when it failed. */
export interface StreamResult {
  readonly message: AssistantMessage;
  readonly error?: ProviderError | undefined;
}

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
