import type { SessionUpdate } from "@agentclientprotocol/sdk";

type Step = () => readonly SessionUpdate[] | Promise<readonly SessionUpdate[]>;

/**
 * Sends the updates of a session in order. Updates that replace each other, such as the output of a command, share one
 * slot, so that a slow client gets the latest one.
 */
export class UpdateLine {
  readonly #send: (update: SessionUpdate) => Promise<void>;
  readonly #latest = new Map<string, Step>();
  #last: Promise<void> = Promise.resolve();

  constructor(send: (update: SessionUpdate) => Promise<void>) {
    this.#send = send;
  }

  add(step: Step): Promise<void> {
    this.#last = this.#last
      .then(async () => {
        for (const update of await step()) await this.#send(update);
      })
      // A closed connection ends the session, so a client that has disconnected misses nothing.
      .catch(() => {});
    return this.#last;
  }

  /** Adds a step, replacing a waiting step with the same key. */
  addLatest(key: string, step: Step): void {
    const waits = this.#latest.has(key);
    this.#latest.set(key, step);
    if (waits) return;
    void this.add(() => {
      const latest = this.#latest.get(key);
      this.#latest.delete(key);
      return latest?.() ?? [];
    });
  }

  /** Resolves once all updates added so far have been sent. */
  settled(): Promise<void> {
    return this.#last;
  }
}
