/**
 * Takes events in order. A promise it returns slows the producer down until it is fulfilled, or until
 * what runs is stopped: so it may await `abort` and `dispose` of its session, but no prompt.
 */
export type Listener<Event> = (event: Event) => void | Promise<void>;

/** How a listener is heard. */
export interface SubscribeOptions {
  /** An abort waits for what it does, too. Such a listener must not itself wait for an abort. */
  readonly holdsAborts?: boolean;
}

/** What an {@link EventBus} asks of its owner. */
export interface EventBusOptions {
  readonly onListenerError: (error: unknown) => void;
  /** Whether what runs is being stopped, and waits for nobody any more. */
  readonly isStopping?: () => boolean;
}

/** Hands every event to every listener; one that throws does not keep the others from hearing. */
export class EventBus<Event> {
  readonly #options: EventBusOptions;
  #listeners: readonly { readonly hear: Listener<Event>; readonly holdsAborts: boolean }[] = [];
  /** Ends each wait for a listener that need not be waited for. */
  readonly #waiting = new Set<() => void>();

  constructor(options: EventBusOptions) {
    this.#options = options;
  }

  /** Adds a listener and returns the function that removes it. */
  subscribe(hear: Listener<Event>, { holdsAborts = false }: SubscribeOptions = {}): () => void {
    const added = { hear, holdsAborts };
    // A new array each time, so that an event under way reaches those that were there.
    this.#listeners = [...this.#listeners, added];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== added);
    };
  }

  /** Tells all listeners; a promise only when one of them asks for time. */
  emit(event: Event): void | Promise<void> {
    const { onListenerError, isStopping } = this.#options;
    let waits: Promise<void>[] | undefined;
    for (const { hear, holdsAborts } of this.#listeners) {
      try {
        const wait = hear(event);
        if (wait === undefined) continue;
        // Listeners written in JavaScript return all kinds of things.
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

  /**
   * Waits no longer for what listeners do now. One of them may be waiting for the end of the very run
   * that waits for it.
   */
  letGo(): void {
    for (const end of [...this.#waiting]) end();
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
