import type { AssistantStream, StreamResult } from "@tau-agent/ai";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { OpenSpan } from "./open-spans.ts";

type Step = IteratorResult<AssistantMessageEvent, StreamResult>;

/**
 * A stream whose span is active while it works. The span ends exactly once, even if the stream is not read to the end.
 */
export class TracedStream implements AssistantStream {
  readonly #stream: AssistantStream;
  readonly #open: OpenSpan;
  #end: ((result: StreamResult | undefined) => void) | undefined;

  constructor(
    stream: AssistantStream,
    open: OpenSpan,
    end: (result: StreamResult | undefined) => void,
  ) {
    this.#stream = stream;
    this.#open = open;
    this.#end = end;
  }

  next(): Promise<Step> {
    return this.#step(() => this.#stream.next());
  }

  return(value: StreamResult | PromiseLike<StreamResult>): Promise<Step> {
    return this.#leave(this.#stream.return(value));
  }

  throw(error: unknown): Promise<Step> {
    return this.#leave(this.#stream.throw(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave(Promise.resolve(this.#stream[Symbol.asyncDispose]()));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #step(work: () => Promise<Step>): Promise<Step> {
    try {
      const step = await this.#open.within(work);
      if (step.done) this.#finish(step.value);
      return step;
    } catch (error) {
      this.#finish(undefined);
      throw error;
    }
  }

  #leave<Value>(work: Promise<Value>): Promise<Value> {
    return work.finally(() => this.#finish(undefined));
  }

  #finish(result: StreamResult | undefined): void {
    const end = this.#end;
    this.#end = undefined;
    end?.(result);
  }
}
