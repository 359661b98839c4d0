import { SessionError } from "../base/errors.ts";

/** Lets steps in one after another, so that two prompts cannot both find the session idle. */
export class Admission {
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /**
   * Runs a step once those before it are through.
   *
   * @throws {SessionError} `disposed`, or what the step throws
   */
  admit<T>(step: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new SessionError("disposed"));
    const admitted = this.#last.then(step, step);
    this.#last = admitted.catch(() => undefined);
    return admitted;
  }

  /** Whether no further step is let in. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Fulfilled once every step so far is through. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Lets no further step in. */
  close(): void {
    this.#isClosed = true;
  }
}
