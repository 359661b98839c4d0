/** A prompt of the client, from its arrival to its answer. */
export interface Ticket {
  readonly isCancelled: boolean;
  /** The listener is called on cancellation, or at once if the prompt is already cancelled. */
  onCancel(listener: () => void): void;
}

class QueuedTicket implements Ticket {
  readonly #listeners: (() => void)[] = [];
  isCancelled = false;

  onCancel(listener: () => void): void {
    if (this.isCancelled) listener();
    else this.#listeners.push(listener);
  }

  cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** Runs prompts one after the other, in order of arrival. */
export class PromptQueue {
  readonly #open = new Set<QueuedTicket>();
  #last: Promise<unknown> = Promise.resolve();

  get isBusy(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Runs a prompt once all earlier prompts have ended.
   *
   * @param signal - cancels this prompt only; a waiting prompt ends at once
   */
  run<Result>(
    work: (ticket: Ticket) => Promise<Result>,
    { signal, cancelled }: { readonly signal: AbortSignal; readonly cancelled: Result },
  ): Promise<Result> {
    const ticket = new QueuedTicket();
    this.#open.add(ticket);
    const { promise: withdrawn, resolve: withdraw } = Promise.withResolvers<Result>();
    let hasBegun = false;
    const onAbort = (): void => {
      ticket.cancel();
      if (!hasBegun) withdraw(cancelled);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const running = this.#last.then(() => {
      hasBegun = true;
      return ticket.isCancelled ? cancelled : work(ticket);
    });
    const done = running.finally(() => {
      this.#open.delete(ticket);
      signal.removeEventListener("abort", onAbort);
    });
    this.#last = done.catch(() => {});
    return Promise.race([done, withdrawn]);
  }

  cancelAll(): void {
    for (const ticket of [...this.#open]) ticket.cancel();
  }

  /** Resolves once every prompt accepted so far has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
