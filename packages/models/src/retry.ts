import type { RunOutcome } from "@tau-agent/agent";
import type { ProviderError } from "@tau-agent/ai";
import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { MAX_TIMER_MS, type SettingsStore, SparseSet } from "@tau-agent/system";
import type { KeyResolver } from "./auth/key-resolver.ts";

export interface RetryOptions {
  readonly settings: Pick<SettingsStore, "get">;
  readonly emit: (event: SessionOnlyEvent) => void | Promise<void>;
  /** Keys that can be replaced when a vendor rejects them before they expire. */
  readonly keys: Pick<KeyResolver, "mayRenew" | "renewRefused">;
}

export interface FailedRequest {
  readonly error: ProviderError | undefined;
  readonly provider: string;
  readonly modelId: string;
}

/** Whether a request is repeated; `cancelled` if the wait for it was ended by a user. */
export type RetryOutcome = "retry" | "cancelled" | "failed";

/**
 * Retries failed requests with growing waits as long as the failure may be transient, and once with another key if the
 * key of a login, or a requested one, was rejected. Retries of turns are announced as events; those of summaries are
 * not.
 */
export class Retry {
  readonly #options: RetryOptions;
  #attempt = 0;
  /** Another key was requested since the last success, so a second rejection is final. */
  #hasRenewed = false;
  /** No attempt follows the current one. */
  #isCancelled = false;
  /** Functions that end a current wait: with `true` the request is made now, otherwise its failure is final. */
  readonly #waits = new SparseSet<(goesOn: boolean) => void>();

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** The current or pending attempt of the turn's request: 0 before the first failure. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Whether the retries of the turn's request were cancelled. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Whether to retry the run's failure. */
  wants({ reply, aborted, failure }: RunOutcome): boolean {
    if (aborted || failure !== undefined || this.#isCancelled) return false;
    return this.#wayAfter(failureOf(reply), this.#attempt, this.#hasRenewed) !== undefined;
  }

  /**
   * Waits until a failed request may be retried.
   *
   * @param retries - the number of retries so far
   */
  async prepareNext(
    failed: FailedRequest,
    retries: { readonly count: number; readonly hasRenewed: boolean },
    signal: AbortSignal | undefined,
  ): Promise<{ outcome: RetryOutcome; hasRenewed: boolean }> {
    const way = this.#wayAfter(failed, retries.count, retries.hasRenewed);
    const end = way === undefined ? "" : await this.#go(way, failed, signal);
    return { outcome: outcomeOf(end), hasRenewed: retries.hasRenewed || way === "renew" };
  }

  /** The wait before the retry in ms, or a note that another key comes first. */
  #wayAfter(
    { error, provider, modelId }: FailedRequest,
    retries: number,
    hasRenewed: boolean,
  ): number | "renew" | undefined {
    const { settings, keys } = this.#options;
    if (error === undefined) return undefined;
    const isRefused = error.code === "auth" && error.status === 401;
    // This does not count as a retry, because the request differs.
    if (isRefused && !hasRenewed && keys.mayRenew(provider, modelId)) return "renew";
    if (!settings.get("retry.enabled")) return undefined;
    if (retries >= settings.get("retry.maxRetries")) return undefined;
    return error.isRetryable ? this.#delayMs(error, retries) : undefined;
  }

  #delayMs(error: ProviderError, retries: number): number | undefined {
    const { settings } = this.#options;
    const askedMs = error.retryAfterMs ?? 0;
    if (askedMs > settings.get("retry.maxDelayMs")) return undefined;
    // A hint of zero is ignored: many clients would repeat their requests at the same moment.
    if (askedMs > 0) return askedMs;
    const backoffMs = settings.get("retry.baseDelayMs") * 2 ** retries;
    return Math.min(backoffMs, settings.get("retry.maxAgentDelayMs"));
  }

  /** Announces the next attempt and waits for its time. */
  async waitForNext({ reply }: RunOutcome, signal: AbortSignal | undefined): Promise<RetryOutcome> {
    const failed = failureOf(reply);
    const way = this.#wayAfter(failed, this.#attempt, this.#hasRenewed);
    if (way === undefined || this.#isCancelled) {
      // Retries were turned off after the decision.
      await this.noteFailure("Retry cancelled");
      return "cancelled";
    }
    this.#attempt += 1;
    // From the announcement on, the wait can be cancelled.
    const wait = this.#go(way, failed, signal);
    this.#hasRenewed ||= way === "renew";
    await this.#options.emit({
      type: "auto_retry_start",
      attempt: this.#attempt,
      maxAttempts: this.#options.settings.get("retry.maxRetries"),
      delayMs: way === "renew" ? 0 : way,
      errorMessage: reply?.message.errorMessage ?? "Unknown error",
    });
    const end = await wait;
    if (end !== true) await this.#end(false, end === false ? "Retry cancelled" : end);
    return outcomeOf(end);
  }

  /** A reply arrived, so the retried request has succeeded. */
  async noteSuccess(): Promise<void> {
    if (this.#attempt > 0) await this.#end(true);
  }

  /** The failure is final. */
  async noteFailure(finalError: string | undefined): Promise<void> {
    if (this.#attempt > 0) await this.#end(false, finalError);
  }

  /** Ends a current wait, whose failure is then final; a current attempt becomes the last one. */
  cancel(): void {
    this.#isCancelled = this.#attempt > 0;
    for (const end of this.#waits) end(false);
  }

  /** Ends the wait and makes the next attempt, because the request will differ from the one that was waited for. */
  hasten(): void {
    for (const end of this.#waits) end(true);
  }

  /** Waits, or gets another key; false if that was cancelled, a message if there is none. */
  #go(
    way: number | "renew",
    { provider, modelId }: FailedRequest,
    signal: AbortSignal | undefined,
  ): Promise<boolean | string> {
    if (way !== "renew") {
      return this.#hold(signal, (end) => {
        const timer = setTimeout(end, Math.min(way, MAX_TIMER_MS), true);
        return () => clearTimeout(timer);
      });
    }
    return this.#hold<boolean | string>(signal, (end) => {
      // New tokens are stored even if nobody waits for them any more.
      this.#options.keys.renewRefused(provider, modelId).then(
        (problem) => end(problem ?? true),
        (error: unknown) => end(errorMessage(error)),
      );
      return () => {};
    });
  }

  async #hold<End>(
    signal: AbortSignal | undefined,
    begin: (end: (value: End | boolean) => void) => () => void,
  ): Promise<End | boolean> {
    const { promise, resolve } = Promise.withResolvers<End | boolean>();
    const leave = begin(resolve);
    const cancel = (): void => resolve(false);
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) cancel();
    this.#waits.add(resolve);
    try {
      return await promise;
    } finally {
      leave();
      signal?.removeEventListener("abort", cancel);
      this.#waits.delete(resolve);
    }
  }

  async #end(success: boolean, finalError?: string): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = 0;
    this.#hasRenewed = false;
    this.#isCancelled = false;
    await this.#options.emit({
      type: "auto_retry_end",
      success,
      attempt,
      ...(finalError === undefined ? {} : { finalError }),
    });
  }
}

/** A string says why no new tokens could be obtained. */
function outcomeOf(end: boolean | string): RetryOutcome {
  if (end === true) return "retry";
  return end === false ? "cancelled" : "failed";
}

function failureOf(reply: RunOutcome["reply"]): FailedRequest {
  const { provider = "", model = "" } = reply?.message ?? {};
  return { error: reply?.error, provider, modelId: model };
}
