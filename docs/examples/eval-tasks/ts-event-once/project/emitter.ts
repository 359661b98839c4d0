type Listener = (value: unknown) => void;

export class Emitter {
  readonly #listeners = new Map<string, Listener[]>();

  on(name: string, listener: Listener): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  once(name: string, listener: Listener): void {
    this.on(name, listener);
  }

  emit(name: string, value?: unknown): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(value);
  }
}
