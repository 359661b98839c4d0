import { EventOverflowError } from "../base/errors.ts";

interface Waiter<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/**
 * The return type of `events()`: use it with `for await`, read it with `next()`, or end it with `return()`.
 * Declared explicitly, because AsyncIterableIterator has no second type parameter before TypeScript 5.6.
 */
export interface EventIterator<T> extends AsyncDisposable {
  next(): Promise<IteratorResult<T, undefined>>;
  return(): Promise<IteratorResult<T, undefined>>;
  [Symbol.asyncIterator](): EventIterator<T>;
}

/** A bounded queue of events for one reader; an async iterator that ends with the connection. */
export class EventQueue<T> implements EventIterator<T> {
  readonly #maxBuffered: number;
  readonly #onReturn: () => void;
  #buffered: T[] = [];
  #head = 0;
  #waiters: Waiter<T>[] = [];
  #end: { error?: unknown } | undefined;

  constructor(maxBuffered: number, onReturn: () => void) {
    this.#maxBuffered = maxBuffered;
    this.#onReturn = onReturn;
  }

  push(event: T): void {
    if (this.#end) return;
    const waiter = this.#waiters.shift();
    if (waiter) {
      waiter.resolve({ value: event, done: false });
    } else if (this.#buffered.length - this.#head >= this.#maxBuffered) {
      this.close(new EventOverflowError(this.#maxBuffered));
      this.#onReturn();
    } else {
      this.#buffered.push(event);
    }
  }

  /** Ends the iterator once the buffer has been read; a given error is thrown then. */
  close(error?: unknown): void {
    if (this.#end) return;
    this.#end = error === undefined ? {} : { error };
    for (const waiter of this.#waiters.splice(0)) this.#settle(waiter);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#buffered.length) {
      return Promise.resolve({ value: this.#take(), done: false });
    }
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      if (this.#end) this.#settle(waiter);
      else this.#waiters.push(waiter);
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#buffered = [];
    this.#head = 0;
    this.close();
    this.#onReturn();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #take(): T {
    const event = this.#buffered[this.#head] as T;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#buffered.length) {
      this.#buffered = this.#buffered.slice(this.#head);
      this.#head = 0;
    }
    return event;
  }

  /** The error is thrown once; after that, the iterator is done. */
  #settle(waiter: Waiter<T>): void {
    const error = this.#end?.error;
    this.#end = {};
    if (error === undefined) waiter.resolve({ value: undefined, done: true });
    else waiter.reject(error);
  }
}
