/** How often it is looked within the time that a client may be silent. */
const LOOKS = 4;

/**
 * Notices that the client has stopped: nothing has come from it for a time. A process that is paused
 * keeps its pipes open, so the end of the input does not tell.
 */
export class ClientWatch {
  #heardAt = performance.now();

  /** @param onSilent - called once the client has been silent for `limitMs` */
  constructor(limitMs: number, onSilent: () => void) {
    const everyMs = limitMs / LOOKS;
    let lookedAt = this.#heardAt;
    const timer = setInterval(() => {
      const now = performance.now();
      // This process was paused or busy itself: what came meanwhile is not read yet.
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
