import type { StreamOptions } from "../provider.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import { GrowingJson } from "./growing-json.ts";
import { LastMade } from "./last-made.ts";
import { Memo } from "./memo.ts";

/**
 * The state that a wire format keeps between requests, so that a turn late in a conversation costs no more
 * than an early one. Each provider loaded by a stream function has its own.
 */
export class RequestMemory {
  readonly #messages = new Memo();
  readonly #body = new GrowingJson();
  /** The HTTP transport; connections stay open between requests. */
  readonly transport: HttpTransport = new HttpTransport();
  /** The vendor's client, created from server, key and headers. */
  readonly client: LastMade = new LastMade();

  /** The cache of encoded messages. A payload that others see may be modified, so it gets a new cache. */
  messages({ onPayload }: StreamOptions): Memo {
    return onPayload === undefined ? this.#messages : new Memo();
  }

  /** `request` as JSON; `list` is the member that each request repeats and extends. */
  body(request: object, list: string, { onPayload }: StreamOptions): string {
    return onPayload === undefined ? this.#body.of(request, list) : JSON.stringify(request);
  }
}
