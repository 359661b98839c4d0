import { within } from "@tau-agent/system";

/** How long commands that have begun may take to be answered once the host ends, in milliseconds. */
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

  /** Fulfilled once every command is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /**
   * Fulfilled once every command is answered, after a second at the latest: a prompt that came right
   * before the end of the input is accepted and stored, but nobody waits for a long command.
   */
  async nearlySettled(): Promise<void> {
    if (!this.isEmpty) await within(GRACE_MS, this.settled());
  }
}
