/** Takes events in order. A promise it returns slows the producer down until it is fulfilled. */
export type Listener<Event> = (event: Event) => void | Promise<void>;

/** Hands every event to every listener; one that throws does not keep the others from hearing. */
export class EventBus<Event> {
  readonly #onListenerError: (error: unknown) => void;
  #listeners: readonly Listener<Event>[] = [];

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  /** Adds a listener and returns the function that removes it. */
  subscribe(listener: Listener<Event>): () => void {
    // A new array each time, so that an event under way reaches those that were there.
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Tells all listeners; a promise only when one of them asks for time. */
  emit(event: Event): void | Promise<void> {
    let waits: Promise<void>[] | undefined;
    for (const listener of this.#listeners) {
      try {
        const wait = listener(event);
        if (wait === undefined) continue;
        waits ??= [];
        // Listeners written in JavaScript return all kinds of things.
        waits.push(Promise.resolve(wait).catch(this.#onListenerError));
      } catch (error) {
        this.#onListenerError(error);
      }
    }
    if (waits !== undefined) return Promise.all(waits).then(() => undefined);
  }
}
