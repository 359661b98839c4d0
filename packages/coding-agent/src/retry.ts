import type { RunOutcome } from "@tau-agent/agent";
import type { ProviderError } from "@tau-agent/ai";
import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import type { SettingsStore } from "./settings/store.ts";
import { MAX_TIMER_MS } from "./timer-limit.ts";

/** What {@link Retry} works with. */
export interface RetryOptions {
  readonly settings: Pick<SettingsStore, "get">;
  readonly emit: (event: SessionOnlyEvent) => void | Promise<void>;
}

/**
 * Tries a failed request again, with a growing wait, as long as the failure may pass: those of turns
 * with events, those of summaries without.
 */
export class Retry {
  readonly #options: RetryOptions;
  #attempt = 0;
  /** No attempt follows the one that is on. */
  #isCancelled = false;
  /** Each ends a wait that is on: with `true` the request is made now, else its failure is final. */
  readonly #waits = new Set<(goesOn: boolean) => void>();

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Whether the run's failure is worth another attempt. */
  wants({ reply, aborted, failure }: RunOutcome): boolean {
    if (aborted || failure !== undefined || this.#isCancelled) return false;
    return this.delayAfter(reply?.error, this.#attempt) !== undefined;
  }

  /** How long to wait after so many retries, in ms; undefined when the failure is final. */
  delayAfter(error: ProviderError | undefined, retries: number): number | undefined {
    const { settings } = this.#options;
    if (!error?.isRetryable || !settings.get("retry.enabled")) return undefined;
    if (retries >= settings.get("retry.maxRetries")) return undefined;
    const askedMs = error.retryAfterMs ?? 0;
    if (askedMs > settings.get("retry.maxDelayMs")) return undefined;
    const backoffMs = settings.get("retry.baseDelayMs") * 2 ** retries;
    return Math.max(Math.min(backoffMs, settings.get("retry.maxAgentDelayMs")), askedMs);
  }

  /**
   * Announces the next attempt and waits for its time.
   *
   * @returns whether to go on; false when the wait was cancelled
   */
  async waitForNext({ reply }: RunOutcome, signal: AbortSignal | undefined): Promise<boolean> {
    const delayMs = this.delayAfter(reply?.error, this.#attempt);
    if (delayMs === undefined || this.#isCancelled) {
      // Switched off since it was decided.
      await this.noteFailure("Retry cancelled");
      return false;
    }
    this.#attempt += 1;
    // From the announcement on, the wait can be cancelled.
    const wait = this.wait(delayMs, signal);
    await this.#options.emit({
      type: "auto_retry_start",
      attempt: this.#attempt,
      maxAttempts: this.#options.settings.get("retry.maxRetries"),
      delayMs,
      errorMessage: reply?.message.errorMessage ?? "Unknown error",
    });
    const goesOn = await wait;
    if (!goesOn) await this.#end(false, "Retry cancelled");
    return goesOn;
  }

  /** A reply came: whatever was retried has succeeded. */
  async noteSuccess(): Promise<void> {
    if (this.#attempt > 0) await this.#end(true);
  }

  /** The failure is final. */
  async noteFailure(finalError: string | undefined): Promise<void> {
    if (this.#attempt > 0) await this.#end(false, finalError);
  }

  /** Ends a wait that is on, its failure is final then; an attempt that is on is the last. */
  cancel(): void {
    this.#isCancelled = this.#attempt > 0;
    for (const end of this.#waits) end(false);
  }

  /** What was waited for is not what will be asked: ends a wait that is on, and the next attempt begins. */
  hasten(): void {
    for (const end of this.#waits) end(true);
  }

  /** Waits; false when the wait was cancelled. */
  async wait(delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, Math.min(delayMs, MAX_TIMER_MS), true);
    const cancel = (): void => resolve(false);
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) cancel();
    this.#waits.add(resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      this.#waits.delete(resolve);
    }
  }

  async #end(success: boolean, finalError?: string): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = 0;
    this.#isCancelled = false;
    await this.#options.emit({
      type: "auto_retry_end",
      success,
      attempt,
      ...(finalError === undefined ? {} : { finalError }),
    });
  }
}
