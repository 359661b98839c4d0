import type { ExtensionEvents } from "../api/api.ts";

/** Messages between extensions, by channel. A failing listener does not affect the others. */
export class EventChannels implements ExtensionEvents {
  readonly #onError: (channel: string, error: unknown) => void;
  readonly #listeners = new Map<string, ((data: unknown) => unknown)[]>();

  constructor(onError: (channel: string, error: unknown) => void) {
    this.#onError = onError;
  }

  on(channel: string, handler: (data: unknown) => unknown): () => void {
    this.#listeners.set(channel, [...(this.#listeners.get(channel) ?? []), handler]);
    return () => {
      const rest = (this.#listeners.get(channel) ?? []).filter((other) => other !== handler);
      this.#listeners.set(channel, rest);
    };
  }

  emit(channel: string, data?: unknown): void {
    for (const handler of this.#listeners.get(channel) ?? []) {
      try {
        const wait = handler(data);
        if (wait instanceof Promise) wait.catch((error) => this.#onError(channel, error));
      } catch (error) {
        this.#onError(channel, error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
