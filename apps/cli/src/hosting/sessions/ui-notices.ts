import type { ExtensionUiRequest } from "@tau-agent/rpc-protocol";

export class UiNotices {
  #write: ((request: ExtensionUiRequest) => void) | undefined;
  #waiting: ExtensionUiRequest[] = [];

  /** Sends a request, or keeps it until a client listens. */
  send(request: ExtensionUiRequest): void {
    if (this.#write === undefined) this.#waiting.push(request);
    else this.#write(request);
  }

  /** Sets where requests are sent from now on. */
  attach(write: (request: ExtensionUiRequest) => void): void {
    this.#write = write;
    for (const request of this.#waiting.splice(0)) write(request);
  }
}
