/** How many checks fit into the time that a client may be silent. */
const LOOKS = 4;

/**
 * Detects that the client has stopped because nothing has arrived for some time. A paused process keeps its
 * pipes open, so its input does not end.
 */
export class ClientWatch {
  #heardAt = performance.now();

  /** @param onSilent - called once the client has been silent for `limitMs` */
  constructor(limitMs: number, onSilent: () => void) {
    const everyMs = limitMs / LOOKS;
    let lookedAt = this.#heardAt;
    const timer = setInterval(() => {
      const now = performance.now();
      // This process was paused or busy itself, so input that arrived in the meantime is not read yet.
      if (now - lookedAt > 2 * everyMs) this.#heardAt = now;
      lookedAt = now;
      if (now - this.#heardAt <= limitMs) return;
      clearInterval(timer);
      onSilent();
    }, everyMs);
    timer.unref();
  }

  heard(): void {
    this.#heardAt = performance.now();
  }
}
