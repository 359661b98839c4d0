import {
  cacheLifetimeMs,
  computeCost,
  renewalTokens,
  type StreamFunction,
  type StreamOptions,
} from "@tau-agent/ai";
import type { AgentEvent } from "@tau-agent/rpc-protocol/events";
import type { Model, Usage } from "@tau-agent/rpc-protocol/messages";
import { SparseSet } from "@tau-agent/system";
import type { CacheUse } from "../compaction/result-clearing.ts";

/** Provides the time and timers. */
export interface WarmingClock {
  now(): number;
  /** Calls the function later; the returned function cancels that. */
  after(delayMs: number, call: () => void): () => void;
}

export interface CacheWarmingOptions {
  readonly stream: StreamFunction;
  readonly isOn: () => boolean;
  readonly maySpend: () => boolean;
  readonly currentModel: () => Model | undefined;
  /** Called before a request; returns a function that receives its usage. */
  readonly account: () => (usage: Usage) => void;
  readonly clock?: WarmingClock | undefined;
}

/** The maximum number of renewals during the calls of one reply. */
const mostRenewals = 2;
/** How long before expiry to renew: allows for the network and for late timers. */
const marginMs = 20_000;

const systemClock: WarmingClock = {
  now: () => Date.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

interface SentRequest {
  readonly request: Parameters<StreamFunction>;
  /** When the last request that used the cache began, which is when a vendor starts to count. */
  readonly at: number;
}

/**
 * Keeps a session's prompt cache alive while its tools run. Shortly before the cache expires, the last request is sent
 * again with the smallest possible reply, which is discarded. This is done only if each use restarts the cache's
 * lifetime, and if it costs less than writing the cache again.
 */
export class CacheWarming {
  readonly #options: CacheWarmingOptions;
  readonly #clock: WarmingClock;
  #last: SentRequest | undefined;
  #lastUse: CacheUse | undefined;
  /** The usage of the reply whose calls may be running. */
  #usage: Usage | undefined;
  /** Cancels the wait; undefined while no tool runs. */
  #cancel: (() => void) | undefined;
  readonly #open = new SparseSet<AbortController>();

  constructor(options: CacheWarmingOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** The stream for the loop; it remembers the last request. */
  readonly stream: StreamFunction = (...request) => {
    const [model, , { cacheRetention = "short" }] = request;
    const at = this.#clock.now();
    this.#lastUse = { model, at, lifetimeMs: cacheLifetimeMs(model, cacheRetention) };
    this.#last = { request, at };
    return this.#options.stream(...request);
  };

  /** The last request or renewal; undefined before the first request. */
  get lastUse(): CacheUse | undefined {
    return this.#lastUse;
  }

  /** Handles each event of the loop. */
  note(event: AgentEvent): void {
    if (event.type === "message_end" && event.message.role === "assistant") {
      this.#usage = event.message.usage;
    } else if (event.type === "tool_execution_start") {
      if (this.#cancel === undefined && this.#usage !== undefined) this.#wait(0, this.#last);
    } else if (event.type === "turn_end") this.#stop();
  }

  close(): void {
    this.#stop();
    for (const controller of this.#open) controller.abort();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#usage = undefined;
    this.#last = undefined;
  }

  #wait(count: number, last: SentRequest | undefined): void {
    if (last === undefined || count >= mostRenewals || !this.#options.isOn()) return;
    const [model, , options] = last.request;
    const lapsesAt = last.at + lifetimeOf(model, options);
    const delayMs = lapsesAt - marginMs - this.#clock.now();
    if (delayMs < 0 || options.signal?.aborted) return;
    const stop = this.#clock.after(delayMs, () => {
      void this.#renew(last, lapsesAt).then((renewed) => {
        // The tools may have ended meanwhile, and others begun.
        if (this.#cancel === cancel && renewed !== undefined) this.#wait(count + 1, renewed);
      });
    });
    options.signal?.addEventListener("abort", stop, { once: true });
    const cancel = (): void => {
      options.signal?.removeEventListener("abort", stop);
      stop();
    };
    this.#cancel = cancel;
  }

  /** Sends the request again; undefined if the cache was not renewed. */
  async #renew(last: SentRequest, lapsesAt: number): Promise<SentRequest | undefined> {
    const [model, , options] = last.request;
    const { maySpend, currentModel, account } = this.#options;
    const usage = this.#usage;
    const tokens = await renewalTokens(model, options);
    const next = currentModel();
    const isSame = next?.id === model.id && next.provider === model.provider;
    const at = this.#clock.now();
    if (usage === undefined || tokens === undefined || at >= lapsesAt || !isSame) return undefined;
    if (this.#usage !== usage || options.signal?.aborted || !maySpend()) return undefined;
    if (!isCheaper(model, { usage, tokens, isLong: isLong(model, options) })) return undefined;
    if (!(await this.#repeat(last, account()))) return undefined;
    if (this.#lastUse !== undefined && this.#lastUse.at < at)
      this.#lastUse = { ...this.#lastUse, at };
    return { request: last.request, at };
  }

  /** Sends the request again, and returns whether the vendor answered. */
  async #repeat({ request }: SentRequest, note: (usage: Usage) => void): Promise<boolean> {
    const [model, context, options] = request;
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    options.signal?.addEventListener("abort", abort, { once: true });
    this.#open.add(controller);
    try {
      const reply = this.#options.stream(model, context, {
        ...options,
        signal: controller.signal,
        initiator: "agent",
        renewsCache: true,
      });
      for (;;) {
        const step = await reply.next();
        if (!step.done) continue;
        const { usage, stopReason } = step.value.message;
        if (isAnything(usage)) note(usage);
        return stopReason !== "error" && stopReason !== "aborted";
      }
    } catch {
      // If the problem persists, the session's next request reports it.
      return false;
    } finally {
      this.#open.delete(controller);
      options.signal?.removeEventListener("abort", abort);
    }
  }
}

function lifetimeOf(model: Model, { cacheRetention = "short" }: StreamOptions): number {
  return cacheLifetimeMs(model, cacheRetention) ?? 0;
}

function isLong(model: Model, options: StreamOptions): boolean {
  return lifetimeOf(model, options) > lifetimeOf(model, { ...options, cacheRetention: "short" });
}

/** Whether another read, with the largest possible reply, costs less than the cache's expiry would add. */
function isCheaper(
  { cost }: Model,
  { usage, tokens, isLong }: { usage: Usage; tokens: number; isLong: boolean },
): boolean {
  const { input } = usage;
  const kept = usage.cacheRead + usage.cacheWrite;
  const renewal = computeCost(cost, { input, cacheRead: kept, output: tokens }).total;
  const read = computeCost(cost, { input, cacheRead: kept }).total;
  const written = { input, cacheWrite: kept, ...(isLong && { cacheWrite1h: kept }) };
  return renewal < computeCost(cost, written).total - read;
}

function isAnything({ input, output, cacheRead, cacheWrite }: Usage): boolean {
  return input + output + cacheRead + cacheWrite > 0;
}
