import type { StreamOptions } from "../provider.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import { GrowingJson } from "./growing-json.ts";
import { LastMade } from "./last-made.ts";
import { Memo } from "./memo.ts";

/**
 * What a wire format keeps from one request to the next, so that a turn late in a conversation costs
 * as much as an early one. Every provider that a stream function loads has its own.
 */
export class RequestMemory {
  readonly #messages = new Memo();
  readonly #body = new GrowingJson();
  /** The way to the server; connections stay open between requests. */
  readonly transport: HttpTransport = new HttpTransport();
  /** The vendor's client; it is made from server, key and headers. */
  readonly client: LastMade = new LastMade();

  /** Encoded messages. A payload that others see may be changed, so it starts from nothing. */
  messages({ onPayload }: StreamOptions): Memo {
    return onPayload === undefined ? this.#messages : new Memo();
  }

  /** `request` as JSON; `list` is the member that each request repeats and adds to. */
  body(request: object, list: string, { onPayload }: StreamOptions): string {
    return onPayload === undefined ? this.#body.of(request, list) : JSON.stringify(request);
  }
}
