import type { HostToolCancel, HostUriCancel } from "@tau-agent/rpc-protocol";

interface EndFrame {
  readonly id: string;
}

/** The host's calls that the client is currently answering; the host may cancel each of them. */
export class RunningCalls<Update extends EndFrame, End extends EndFrame> {
  readonly #send: (frame: Update | End) => void;
  readonly #controllers = new Map<string, AbortController>();

  constructor(send: (frame: Update | End) => void) {
    this.#send = send;
  }

  /** Sends the result of `answer` unless the call was cancelled; `update` sends progress before that. */
  protected async begin(
    id: string,
    answer: (signal: AbortSignal, update: (frame: Update) => void) => Promise<End>,
  ): Promise<void> {
    // The host repeats the call after a reconnect.
    if (this.#controllers.has(id)) return;
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    const end = await answer(controller.signal, (frame) => {
      // A tool may still send updates after it has returned.
      if (this.#controllers.has(id)) this.#send(frame);
    });
    if (this.#controllers.delete(id)) this.#send(end);
  }

  cancel({ targetId }: HostToolCancel | HostUriCancel): void {
    this.#controllers.get(targetId)?.abort();
    this.#controllers.delete(targetId);
  }

  end(): void {
    for (const controller of this.#controllers.values()) controller.abort();
    this.#controllers.clear();
  }
}
