import { SessionError } from "@tau-agent/rpc-protocol/plain";

/** Runs steps one after another, so that two prompts never both find the session idle. */
export class Admission {
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /**
   * Runs a step once all earlier steps are done.
   *
   * @throws {SessionError} `disposed`, or what the step throws
   */
  admit<T>(step: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new SessionError("disposed"));
    const admitted = this.#last.then(step, step);
    this.#last = admitted.catch(() => undefined);
    return admitted;
  }

  /** Whether further steps are refused. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves once every step so far is done. */
  async settled(): Promise<void> {
    await this.#last;
  }

  close(): void {
    this.#isClosed = true;
  }
}
