import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { Settle } from "../events/event-hub.ts";

export interface SettleSource {
  /** Whether the host sends `agent_settled`; otherwise it is asked for its state. */
  readonly announcesSettled: boolean;
  isIdle(): Promise<boolean>;
}

const maybeLast: ReadonlySet<string> = new Set([
  "agent_end",
  "auto_compaction_end",
  "compaction_end",
  "auto_retry_end",
]);

/** Watches events for the moment when nothing is running, queued, retrying or compacting. */
export class SettleWatch {
  readonly #source: SettleSource;
  readonly #settle: Settle<void>;
  #isRetrying = false;

  constructor(source: SettleSource, settle: Settle<void>) {
    this.#source = source;
    this.#settle = settle;
  }

  onEvent(event: SessionEvent): void {
    if (event.type === "auto_retry_start") this.#isRetrying = true;
    if (event.type === "auto_retry_end") this.#isRetrying = false;
    if (event.type === "agent_settled") this.#settle.resolve();
    else if (!this.#source.announcesSettled && maybeLast.has(event.type)) void this.check();
  }

  /** Asks the host; the response arrives after all earlier events. */
  async check(): Promise<void> {
    try {
      const isIdle = await this.#source.isIdle();
      if (isIdle && !this.#isRetrying) this.#settle.resolve();
    } catch (error) {
      this.#settle.reject(error);
    }
  }
}
