import type { ClientEvent } from "@tau-agent/rpc-protocol";
import { type ConnectionClosedError, RequestTimeoutError } from "../base/errors.ts";
import { startTimer } from "../base/start-timer.ts";

/** A listener to events and to the end of the connection. */
export interface Subscriber {
  /** A returned promise delays everything after the event. */
  onEvent(event: ClientEvent): void | Promise<void>;
  onClose?(error: ConnectionClosedError, wasAsked: boolean): void;
}

export interface WaitOptions {
  readonly what: string;
  /** 0 means no limit. */
  readonly timeoutMs: number;
  /** Rejects the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Settle<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

export class EventHub {
  readonly #subscribers = new Set<Subscriber>();

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => {
      this.#subscribers.delete(subscriber);
    };
  }

  /** Returns a promise if a listener wants to delay everything after the event. */
  emit(event: ClientEvent): Promise<unknown> | undefined {
    const holds: Promise<void>[] = [];
    for (const subscriber of [...this.#subscribers]) {
      // An earlier listener may have removed this one.
      if (!this.#subscribers.has(subscriber)) continue;
      try {
        const hold = subscriber.onEvent(event);
        if (hold !== undefined) holds.push(hold);
      } catch (error) {
        // An error in a listener belongs to the application and must not keep the event from other listeners.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    return holds.length > 0 ? Promise.allSettled(holds) : undefined;
  }

  close(error: ConnectionClosedError, wasAsked: boolean): void {
    for (const subscriber of [...this.#subscribers]) subscriber.onClose?.(error, wasAsked);
  }

  /**
   * Listens until `begin`'s listener settles the wait. Rejects when the connection closes or the time runs
   * out. Always unsubscribes.
   */
  wait<T>(
    options: WaitOptions,
    begin: (settle: Settle<T>) => (event: ClientEvent) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { what, timeoutMs, signal } = options;
    let end = () => {};
    const settle: Settle<T> = {
      resolve: (value) => {
        end();
        resolve(value);
      },
      reject: (error) => {
        end();
        reject(error);
      },
    };
    const listener = begin(settle);
    const onEvent = (event: ClientEvent): void => {
      try {
        listener(event);
      } catch (error) {
        settle.reject(error);
      }
    };
    const unsubscribe = this.subscribe({ onEvent, onClose: settle.reject });
    const onTimeout = () => settle.reject(new RequestTimeoutError(what, timeoutMs));
    const onAbort = () => settle.reject(signal?.reason);
    const timer = startTimer(onTimeout, timeoutMs);
    signal?.addEventListener("abort", onAbort);
    // Unsubscribes at once instead of when the promise settles, because the next event may be in the same
    // chunk of input.
    end = () => {
      unsubscribe();
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    return promise;
  }
}
