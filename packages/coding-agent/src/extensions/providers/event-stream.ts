import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";

/** A stream with a writer that pushes events and a reader; `result()` is its outcome. */
export class EventStream<Event, Result> implements AsyncIterable<Event> {
  readonly #isLast: (event: Event) => boolean;
  readonly #resultOf: (event: Event) => Result;
  readonly #events: Event[] = [];
  readonly #result: PromiseWithResolvers<Result> = Promise.withResolvers();
  #arrival: PromiseWithResolvers<void> = Promise.withResolvers();
  #hasEnded = false;

  constructor(isLast: (event: Event) => boolean, resultOf: (event: Event) => Result) {
    this.#isLast = isLast;
    this.#resultOf = resultOf;
  }

  push(event: Event): void {
    if (this.#hasEnded) return;
    this.#events.push(event);
    if (this.#isLast(event)) {
      this.#hasEnded = true;
      this.#result.resolve(this.#resultOf(event));
    }
    this.#wake();
  }

  end(result?: Result): void {
    this.#hasEnded = true;
    if (result !== undefined) this.#result.resolve(result);
    this.#wake();
  }

  result(): Promise<Result> {
    return this.#result.promise;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#events.length) {
        if (this.#hasEnded) return;
        await this.#arrival.promise;
      }
      yield this.#events[at] as Event;
    }
  }

  #wake(): void {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }
}

export class AssistantMessageEventStream extends EventStream<
  AssistantMessageEvent,
  AssistantMessage
> {
  constructor() {
    super(
      (event) => event.type === "done" || event.type === "error",
      (event) => {
        if (event.type === "done") return event.message;
        return event.type === "error" ? event.error : event.partial;
      },
    );
  }
}
