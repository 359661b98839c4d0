import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Delta, TokenCounts } from "../../provider.ts";
import type { PlainRequest } from "../scenario-player.ts";

/** What a reply in a wire format says about itself. */
export interface ReplyHead {
  readonly id: string;
  readonly model: string;
  readonly usage: TokenCounts;
  /** The request that is answered. */
  readonly asked?: JsonObject | undefined;
}

export interface ReplyWriter {
  start(): string;
  write(delta: Delta): string;
  /** The vendor's error event. */
  error(message: string, code: string | undefined): string;
}

/** A writer that changes what another one writes for a delta. */
export function changedWriter(
  inner: ReplyWriter,
  change: (text: string, delta: Delta) => string,
): ReplyWriter {
  return {
    start: () => inner.start(),
    write: (delta) => change(inner.write(delta), delta),
    error: (message, code) => inner.error(message, code),
  };
}

export interface WireFormat {
  readonly api: string;
  /** Reads a request as the vendor would. */
  parse(body: unknown, path: string): PlainRequest;
  createWriter(head: ReplyHead): ReplyWriter;
  /** The bytes of events, where they are not the text itself. */
  toBytes?(events: string): Uint8Array;
  /** The type of a reply's body; default that of server-sent events. */
  readonly contentType?: string;
  errorBody(status: number, message: string, code?: string | undefined): unknown;
  /** What the vendor says when a conversation is too long. */
  readonly overflow: { readonly message: string; readonly code?: string };
}
