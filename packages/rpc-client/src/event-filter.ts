import type { Params, SessionEvent } from "@tau-agent/rpc-protocol";

type FilterParams = Params<"set_event_filter">;

/** What the client itself goes by: it rebuilds replies, and tells when work is done. */
const needed: readonly SessionEvent["type"][] = [
  "message_start",
  "message_end",
  "agent_end",
  "agent_settled",
  "prompt_result",
  "auto_retry_start",
  "auto_retry_end",
  "auto_compaction_end",
  "compaction_end",
];

/** A change of the filter that was asked for: what the host is to be told, and the way back. */
export interface FilterChange {
  readonly params: FilterParams;
  takeBack(): void;
}

/** Which events listeners get; the host has to send some more. */
export class EventFilter {
  #shown: ReadonlySet<string> | undefined;

  /** Whether listeners get events of this type. */
  shows({ type }: SessionEvent): boolean {
    return this.#shown?.has(type) ?? true;
  }

  /** Takes effect at once; `takeBack` is for a host that refuses. */
  change({ events }: FilterParams): FilterChange {
    const before = this.#shown;
    // The host refuses a value that is not a list.
    const isList = Array.isArray(events);
    const shown = isList ? new Set(events) : undefined;
    this.#shown = shown;
    return {
      params: isList ? { events: [...new Set([...events, ...needed])] } : { events },
      takeBack: () => {
        if (this.#shown === shown) this.#shown = before;
      },
    };
  }

  /** All events again, as a host begins. */
  reset(): void {
    this.#shown = undefined;
  }
}
