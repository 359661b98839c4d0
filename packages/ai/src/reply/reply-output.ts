import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { StreamResult } from "./assemble.ts";

/** Work that may have to be waited for. */
export type Work = Promise<void> | undefined;

/** Takes an event; if it returns a promise, the next event waits for it. */
export type OnReplyEvent = (event: AssistantMessageEvent) => Promise<void> | undefined;

/** Streams a reply to a function. Rejects only with what that function throws. */
export type RelayReply = (onEvent: OnReplyEvent) => Promise<StreamResult>;

/** Passes the events of one reply to its reader, one after another. */
export class ReplyOutput {
  readonly #onEvent: OnReplyEvent;
  #work: Work;
  #failure: { readonly error: unknown } | undefined;

  constructor(onEvent: OnReplyEvent) {
    this.#onEvent = onEvent;
  }

  /** @throws what the reader throws, also for each later call */
  pass(events: readonly AssistantMessageEvent[], first = 0): Work {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      for (let index = first; index < events.length; index += 1) {
        const work = this.#onEvent(events[index] as AssistantMessageEvent);
        if (work === undefined) continue;
        this.#work = work.then(() => this.pass(events, index + 1), this.#fail);
        return this.#work;
      }
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  /** Waits until the reader has handled what was passed to it. */
  async ready(): Promise<void> {
    await this.#work;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  readonly #fail = (error: unknown): never => {
    this.#failure = { error };
    throw error;
  };
}
