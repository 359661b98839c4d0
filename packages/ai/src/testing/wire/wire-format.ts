import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Delta, TokenCounts } from "../../provider.ts";
import type { PlainRequest } from "../scenario-player.ts";

/** The metadata of a reply in a wire format. */
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

/** Wraps a writer to change what it writes for each delta. */
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
  /** Reads a request the way the vendor would. */
  parse(body: unknown, path: string): PlainRequest;
  createWriter(head: ReplyHead): ReplyWriter;
  /** Encodes events whose bytes differ from the text. */
  toBytes?(events: string): Uint8Array;
  /** The content type of a reply; by default, that of server-sent events. */
  readonly contentType?: string;
  errorBody(status: number, message: string, code?: string | undefined): unknown;
  /** The vendor's error for a conversation that is too long. */
  readonly overflow: { readonly message: string; readonly code?: string };
}
