import { ProviderError } from "./errors.ts";

type ReadStep<Result> = (
  resolve: (result: Result) => void,
  reject: (reason: unknown) => void,
) => void;

/**
 * Stands beside one reply: waits for its steps, and ends the wait at once on the user's abort or
 * when a time limit passes. One timer serves the whole reply, and every wait has its own promise,
 * so that a long stream leaves nothing behind on a shared one.
 */
export class ReplyGuard {
  readonly #controller = new AbortController();
  readonly #userSignal: AbortSignal | undefined;
  /** Ends the wait for the current step. */
  #waiting: Pick<PromiseWithResolvers<unknown>, "resolve" | "reject"> | undefined;
  #failure: ProviderError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  /** Since when the reply's reader takes its time; undefined while a step is waited for. */
  #pausedSince: number | undefined = performance.now();
  #limit = { timeoutMs: 0, what: "" };
  #isDraining = false;

  constructor(userSignal: AbortSignal | undefined) {
    this.#userSignal = userSignal;
    if (userSignal?.aborted) this.#onAbort();
    else userSignal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Aborted when the reply is; what the request is sent with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get failure(): ProviderError | undefined {
    return this.#failure;
  }

  get hasUserAborted(): boolean {
    return this.#failure?.code === "aborted";
  }

  /** Runs a step unless the reply has been ended; a step that outlives its reply is left alone. */
  wait<Result>(step: () => Promise<Result>): Promise<Result> {
    return this.read((resolve, reject) => void step().then(resolve, reject));
  }

  /** As {@link wait}, for a step that calls back. */
  read<Result>(step: ReadStep<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#waiting = { resolve: resolve as (result: unknown) => void, reject };
      this.#resume();
      // No further wait begins after the end of the reply, so a step that outlives it meets its own wait.
      try {
        step(this.#onResult, this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    });
  }

  /** Restarts the time limit; undefined and 0 lift it. */
  watch(timeoutMs: number | undefined, what: string): void {
    this.#limit = { timeoutMs: timeoutMs ?? 0, what };
    const delay = timeoutMs || Number.POSITIVE_INFINITY;
    // A pause moves the deadline anyway, so that the time when it began will do.
    const deadline = (this.#pausedSince ?? performance.now()) + delay;
    const isSooner = deadline < this.#deadline;
    this.#deadline = deadline;
    // A later deadline is noticed when the timer fires, which spares a timer per event.
    if (this.#timer === undefined || isSooner) this.#arm(delay);
  }

  /** Restarts the time limit, unless the current one ends sooner. */
  shorten(timeoutMs: number | undefined, what: string): void {
    const delay = timeoutMs || Number.POSITIVE_INFINITY;
    if (performance.now() + delay < this.#deadline) this.watch(timeoutMs, what);
  }

  /** Ends the request and its body. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#controller.abort(this.#failure);
  }

  /**
   * Reads the rest of a finished reply in the background, for at most `timeoutMs`, so that its
   * connection can serve the next request.
   */
  drain(chunks: AsyncIterator<unknown>, timeoutMs: number): void {
    const timer = setTimeout(() => this.#controller.abort(), timeoutMs);
    timer.unref();
    const read = async (): Promise<void> => {
      while (!this.signal.aborted && !(await chunks.next()).done);
    };
    // When the rest of a complete reply fails, no caller is left to notify.
    read().then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    this.#isDraining = true;
  }

  /** Lets go of signal and timer; a reply that was left before its end is cancelled. */
  release(): void {
    this.#userSignal?.removeEventListener("abort", this.#onAbort);
    if (this.#isDraining) clearTimeout(this.#timer);
    else this.cancel();
  }

  #arm(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (Number.isFinite(delay)) this.#timer = setTimeout(this.#onTimer, Math.min(delay, 2 ** 30));
  }

  /** The vendor is not silent while nobody listens: a pause moves the deadline. */
  #resume(): void {
    const now = performance.now();
    this.#deadline += now - (this.#pausedSince ?? now);
    this.#pausedSince = undefined;
    if (this.#timer === undefined) this.#arm(this.#deadline - now);
  }

  readonly #onResult = (result: unknown): void => {
    this.#pausedSince = performance.now();
    this.#waiting?.resolve(result);
  };

  readonly #onError = (error: unknown): void => {
    this.#pausedSince = performance.now();
    this.#waiting?.reject(error);
  };

  readonly #onTimer = (): void => {
    const left = this.#deadline - performance.now();
    this.#timer = undefined;
    // A wait after a pause sets the timer again.
    if (this.#pausedSince !== undefined) return;
    if (left > 0) {
      this.#arm(left);
      return;
    }
    const { timeoutMs, what } = this.#limit;
    this.#end(
      new ProviderError({ code: "timeout", message: `${what} for ${timeoutMs / 1000} seconds` }),
    );
  };

  readonly #onAbort = (): void => {
    this.#end(new ProviderError({ code: "aborted", message: "Request was aborted" }));
  };

  #end(failure: ProviderError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#waiting?.reject(failure);
    this.cancel();
  }
}
