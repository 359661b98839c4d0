import { ProviderError } from "./errors.ts";

type ReadStep<Result> = (
  resolve: (result: Result) => void,
  reject: (reason: unknown) => void,
) => void;

/**
 * Guards one reply: waits for its steps, and ends the wait at once on the user's abort or when a time limit
 * passes. One timer serves the whole reply. Each wait has its own promise, so that a long stream does not
 * accumulate reactions on a shared one.
 */
export class ReplyGuard {
  readonly #controller = new AbortController();
  readonly #userSignal: AbortSignal | undefined;
  /** Settles the wait for the current step. */
  #waiting: Pick<PromiseWithResolvers<unknown>, "resolve" | "reject"> | undefined;
  #failure: ProviderError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  /** When the reply's reader paused; undefined while waiting for a step. */
  #pausedSince: number | undefined = performance.now();
  #limitMs = 0;
  #what = "";
  #isDraining = false;

  constructor(userSignal: AbortSignal | undefined) {
    this.#userSignal = userSignal;
    if (userSignal?.aborted) this.#onAbort();
    else userSignal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** The signal for the request; aborted when the reply is. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get failure(): ProviderError | undefined {
    return this.#failure;
  }

  get hasUserAborted(): boolean {
    return this.#failure?.code === "aborted";
  }

  /** Runs a step unless the reply has ended; the result of a step that outlives its reply is ignored. */
  wait<Result>(step: () => Promise<Result>): Promise<Result> {
    return this.read((resolve, reject) => void step().then(resolve, reject));
  }

  /** Like {@link wait}, for a step that calls back. */
  read<Result>(step: ReadStep<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#waiting = { resolve: resolve as (result: unknown) => void, reject };
      this.#resume();
      // No wait starts after the reply has ended, so a step that finishes later settles only its own wait.
      try {
        step(this.#onResult, this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    });
  }

  /** Extends the time limit by the time that work takes, because meanwhile nobody waits for the vendor. */
  pause(work: Promise<void> | undefined): Promise<void> | undefined {
    if (work === undefined) return undefined;
    this.#pausedSince ??= performance.now();
    return work.then(() => {
      if (this.#failure === undefined) this.#resume();
    });
  }

  /** Restarts the time limit; undefined and 0 remove it. */
  watch(timeoutMs: number | undefined, what: string): void {
    this.#limitMs = timeoutMs ?? 0;
    this.#what = what;
    const delay = timeoutMs || Number.POSITIVE_INFINITY;
    // A pause extends the deadline anyway, so its start time is accurate enough.
    const deadline = (this.#pausedSince ?? performance.now()) + delay;
    const isSooner = deadline < this.#deadline;
    this.#deadline = deadline;
    // A later deadline is handled when the timer fires, which avoids a timer per event.
    if (this.#timer === undefined || isSooner) this.#arm(delay);
  }

  /** Restarts the time limit unless the current one ends sooner. */
  shorten(timeoutMs: number | undefined, what: string): void {
    const delay = timeoutMs || Number.POSITIVE_INFINITY;
    if (performance.now() + delay < this.#deadline) this.watch(timeoutMs, what);
  }

  /** Cancels the request and its body. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#controller.abort(this.#failure);
  }

  /**
   * Reads the rest of a finished reply in the background, for at most `timeoutMs`, so that the next request
   * can reuse its connection.
   */
  drain(chunks: AsyncIterator<unknown>, timeoutMs: number): void {
    const timer = setTimeout(() => this.#controller.abort(), timeoutMs);
    timer.unref();
    const read = async (): Promise<void> => {
      while (!this.signal.aborted && !(await chunks.next()).done);
    };
    // If reading the rest of a complete reply fails, no caller is left to notify.
    read().then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    this.#isDraining = true;
  }

  /** Releases signal and timer; cancels a reply that was abandoned before its end. */
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

  /** Time during which nobody reads does not count as silence of the vendor: a pause extends the deadline. */
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
    // The next wait after the pause sets the timer again.
    if (this.#pausedSince !== undefined) return;
    if (left > 0) {
      this.#arm(left);
      return;
    }
    const message = `${this.#what} for ${this.#limitMs / 1000} seconds`;
    this.#end(new ProviderError({ code: "timeout", message }));
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
