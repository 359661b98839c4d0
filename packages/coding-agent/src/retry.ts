import type { RunOutcome } from "@tau-agent/agent";
import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import type { SettingsStore } from "./settings/store.ts";

/** What {@link Retry} works with. */
export interface RetryOptions {
  readonly settings: Pick<SettingsStore, "get">;
  readonly emit: (event: SessionOnlyEvent) => void | Promise<void>;
}

/** Longest a timer can run; longer waits would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Tries a failed request again, with a growing wait, as long as the failure may pass. */
export class Retry {
  readonly #options: RetryOptions;
  #attempt = 0;
  #wait: AbortController | undefined;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Whether a wait is on. */
  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  /** Whether the run's failure is worth another attempt. */
  wants({ reply, aborted, failure }: RunOutcome): boolean {
    const { settings } = this.#options;
    if (aborted || failure !== undefined || !settings.get("retry.enabled")) return false;
    const error = reply?.error;
    if (error === undefined || !error.isRetryable) return false;
    if ((error.retryAfterMs ?? 0) > settings.get("retry.maxDelayMs")) return false;
    return this.#attempt < settings.get("retry.maxRetries");
  }

  /**
   * Announces the next attempt and waits for its time.
   *
   * @returns whether to go on; false when the wait was cancelled
   */
  async waitForNext({ reply }: RunOutcome, signal: AbortSignal | undefined): Promise<boolean> {
    const { settings, emit } = this.#options;
    this.#attempt += 1;
    const backoffMs = settings.get("retry.baseDelayMs") * 2 ** (this.#attempt - 1);
    const cappedMs = Math.min(backoffMs, settings.get("retry.maxAgentDelayMs"));
    const delayMs = Math.max(cappedMs, reply?.error?.retryAfterMs ?? 0);
    // From the announcement on, the wait can be cancelled.
    const wait = new AbortController();
    this.#wait = wait;
    await emit({
      type: "auto_retry_start",
      attempt: this.#attempt,
      maxAttempts: settings.get("retry.maxRetries"),
      delayMs,
      errorMessage: reply?.message.errorMessage ?? "Unknown error",
    });
    const isDone = await this.#sleep(delayMs, wait, signal);
    if (!isDone) await this.#end(false, "Retry cancelled");
    return isDone;
  }

  /** A reply came: whatever was retried has succeeded. */
  async noteSuccess(): Promise<void> {
    if (this.#attempt > 0) await this.#end(true);
  }

  /** The failure is final. */
  async noteFailure(finalError: string | undefined): Promise<void> {
    if (this.#attempt > 0) await this.#end(false, finalError);
  }

  /** Ends a wait that is on; the failure is final then. */
  cancel(): void {
    this.#wait?.abort();
  }

  async #end(success: boolean, finalError?: string): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = 0;
    await this.#options.emit({
      type: "auto_retry_end",
      success,
      attempt,
      ...(finalError === undefined ? {} : { finalError }),
    });
  }

  async #sleep(
    delayMs: number,
    wait: AbortController,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const cancel = (): void => wait.abort();
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      await new Promise<void>((resolve) => {
        if (wait.signal.aborted) return resolve();
        const timer = setTimeout(resolve, Math.min(delayMs, MAX_TIMER_MS));
        wait.signal.addEventListener(
          "abort",
          () => {
            clearTimeout(timer);
            resolve();
          },
          { once: true },
        );
      });
      return !wait.signal.aborted;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#wait = undefined;
    }
  }
}
