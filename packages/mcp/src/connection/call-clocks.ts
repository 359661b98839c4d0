export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
}

export interface CallClock {
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
  restart(): void;
  /** @throws {RequestTimeout} the time is up */
  throwIfOver(): void;
  stop(): void;
}

/** The time limits of a connection's requests; they are paused while the server waits for the host. */
export class CallClocks {
  readonly #clocks = new Set<() => void>();
  #waiting = 0;

  start(timeoutMs: number): CallClock {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const restart = (): void => {
      clearTimeout(timer);
      if (this.#waiting > 0 || controller.signal.aborted) return;
      timer = setTimeout(() => {
        controller.abort(new RequestTimeout(`No answer within ${timeoutMs / 1000} s`));
      }, timeoutMs);
    };
    this.#clocks.add(restart);
    restart();
    return {
      signal: controller.signal,
      restart,
      throwIfOver: () => controller.signal.throwIfAborted(),
      stop: () => {
        clearTimeout(timer);
        this.#clocks.delete(restart);
      },
    };
  }

  /** Answers a request of the server, and pauses the server's own time limits meanwhile. */
  async pauseFor<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    this.#restartAll();
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
      this.#restartAll();
    }
  }

  #restartAll(): void {
    for (const restart of this.#clocks) restart();
  }
}
