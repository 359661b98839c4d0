import type { HostToolCancel, HostUriCancel } from "@tau-agent/rpc-protocol";

interface EndFrame {
  readonly id: string;
}

/** The calls of the host that the client is answering, each of which the host may cancel. */
export class RunningCalls<Update extends EndFrame, End extends EndFrame> {
  readonly #send: (frame: Update | End) => void;
  readonly #controllers = new Map<string, AbortController>();

  constructor(send: (frame: Update | End) => void) {
    this.#send = send;
  }

  /** Sends what `answer` makes of the call, unless the call was cancelled; `update` sends what comes before that. */
  protected async begin(
    id: string,
    answer: (signal: AbortSignal, update: (frame: Update) => void) => Promise<End>,
  ): Promise<void> {
    // A call that the host tells of again after a reconnect.
    if (this.#controllers.has(id)) return;
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    const end = await answer(controller.signal, (frame) => {
      // A tool may go on reporting after it has returned.
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
