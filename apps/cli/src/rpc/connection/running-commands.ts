import { within } from "@tau-agent/system";

/** How long running commands may take to be answered once the host shuts down, in milliseconds. */
const GRACE_MS = 1_000;

export class RunningCommands {
  readonly #running = new Set<Promise<unknown>>();

  /** @param done settles once the command is answered; must never reject */
  add(done: Promise<unknown>): void {
    this.#running.add(done);
    void done.finally(() => this.#running.delete(done));
  }

  get isEmpty(): boolean {
    return this.#running.size === 0;
  }

  /** Resolves once every command is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /**
   * Resolves once every command is answered, or after one second: a prompt sent right before the end of the
   * input is accepted and stored, but a long command is not waited for.
   */
  async nearlySettled(): Promise<void> {
    if (!this.isEmpty) await within(GRACE_MS, this.settled());
  }
}
