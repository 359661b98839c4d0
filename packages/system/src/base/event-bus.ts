import type { EventOrder } from "@tau-agent/rpc-protocol";

/**
 * Receives events in order. A returned promise holds the producer back until it resolves or the work is stopped. A
 * listener may therefore await `abort` and `dispose` of its session, but not a prompt.
 */
export type Listener<Event> = (event: Event, order: EventOrder) => void | Promise<void>;

/** Options of a listener. */
export interface SubscribeOptions {
  /** Makes an abort wait for the listener too. Such a listener must not await an abort itself. */
  readonly holdsAborts?: boolean;
}

export interface EventBusOptions<Event> {
  readonly onListenerError: (error: unknown) => void;
  /** Whether the current work is being stopped, so that no listener is awaited. */
  readonly isStopping?: () => boolean;
  /**
   * Makes events wait, for example until a store has saved what they announce. If the promise
   * rejects, only events that end something are sent.
   */
  readonly until?: () => Promise<void> | undefined;
  /** Whether an event ends what earlier ones began, so that listeners must receive it in any case. */
  readonly isEnd?: (event: Event) => boolean;
  /** The prompt that current events belong to. */
  readonly promptId?: () => string | undefined;
}

/** Numbers events and passes each to every listener, even if one throws. */
export class EventBus<Event> {
  readonly #options: EventBusOptions<Event>;
  #listeners: readonly { readonly hear: Listener<Event>; readonly holdsAborts: boolean }[] = [];
  /** Functions that each stop waiting for one listener. */
  readonly #waiting = new Set<() => void>();
  #lastSeq = 0;
  #isDelivering = false;
  /** Deliveries of events that listeners emitted, postponed so that every listener gets all events in order. */
  readonly #caused: (() => void)[] = [];
  /** Resolves when the last waiting event has been sent. */
  #held: Promise<void> | undefined;

  constructor(options: EventBusOptions<Event>) {
    this.#options = options;
  }

  /** Adds a listener and returns the function that removes it. */
  subscribe(hear: Listener<Event>, { holdsAborts = false }: SubscribeOptions = {}): () => void {
    const added = { hear, holdsAborts };
    // A new array each time: an event being delivered still reaches the listeners it started with.
    this.#listeners = [...this.#listeners, added];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== added);
    };
  }

  /** The sequence number of the next event, also for events that reach clients in another way. */
  next(promptId: string | undefined = this.#options.promptId?.()): EventOrder {
    this.#lastSeq += 1;
    return promptId === undefined ? { seq: this.#lastSeq } : { seq: this.#lastSeq, promptId };
  }

  /**
   * Calls all listeners; returns a promise only if one of them does, or if a listener emits.
   *
   * @param promptId - the prompt that the event belongs to; default the current one
   */
  emit(event: Event, promptId?: string): void | Promise<void> {
    const ready = this.#options.until?.();
    if (ready === undefined && this.#held === undefined) return this.emitNow(event, promptId);
    return this.#emitLater(event, ready, promptId ?? this.#options.promptId?.());
  }

  /** Calls all listeners immediately, ahead of events that still wait. */
  emitNow(event: Event, promptId?: string): void | Promise<void> {
    if (this.#isDelivering) {
      const cause = promptId ?? this.#options.promptId?.();
      return new Promise((resolve) => {
        // Numbered on delivery, so that numbers follow the order of delivery.
        this.#caused.push(() => resolve(this.#deliver(event, this.next(cause))));
      });
    }
    this.#isDelivering = true;
    const wait = this.#deliver(event, this.next(promptId));
    for (let next = this.#caused.shift(); next !== undefined; next = this.#caused.shift()) next();
    this.#isDelivering = false;
    return wait;
  }

  async #emitLater(
    event: Event,
    ready: Promise<void> | undefined,
    promptId: string | undefined,
  ): Promise<void> {
    const before = this.#held;
    const turn = Promise.withResolvers<void>();
    this.#held = turn.promise;
    try {
      const isReady = await Promise.resolve(ready).then(
        () => true,
        () => false,
      );
      await before;
      if (!isReady && this.#options.isEnd?.(event) !== true) return;
      await this.emitNow(event, promptId);
    } finally {
      if (this.#held === turn.promise) this.#held = undefined;
      turn.resolve();
    }
  }

  /** Stops waiting for listeners: one of them may itself be awaiting the end of the current run. */
  letGo(): void {
    for (const end of [...this.#waiting]) end();
  }

  #deliver(event: Event, order: EventOrder): void | Promise<void> {
    const { onListenerError, isStopping } = this.#options;
    let waits: Promise<void>[] | undefined;
    for (const { hear, holdsAborts } of this.#listeners) {
      try {
        const wait = hear(event, order);
        if (wait === undefined) continue;
        // Listeners written in JavaScript may return anything.
        const heard = Promise.resolve(wait).catch(onListenerError);
        if (!holdsAborts && isStopping?.()) continue;
        waits ??= [];
        waits.push(holdsAborts ? heard : this.#untilLetGo(heard));
      } catch (error) {
        onListenerError(error);
      }
    }
    if (waits !== undefined) return Promise.all(waits).then(() => undefined);
  }

  #untilLetGo(heard: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#waiting.delete(end);
      resolve();
    };
    this.#waiting.add(end);
    void heard.then(end);
    return promise;
  }
}
