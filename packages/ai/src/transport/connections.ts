import type { HttpTransport } from "./http-transport.ts";

/**
 * Connections to models, for stream functions that share them: a connection that one leaves can serve another, and
 * how replies are read depends on the number of all.
 */
export class Connections {
  #transport: HttpTransport | undefined;

  /** The transport; the first request loads its code and creates it. */
  transport(create: () => HttpTransport): HttpTransport {
    this.#transport ??= create();
    return this.#transport;
  }
}
