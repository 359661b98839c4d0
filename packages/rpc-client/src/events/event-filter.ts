import type { Params, SessionEvent } from "@tau-agent/rpc-protocol";

type FilterParams = Params<"set_event_filter">;

/** Events the client itself depends on, to rebuild replies and to know when work is done. */
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

/** A change of the filter: what to send to the host, and how to undo it. */
export interface FilterChange {
  readonly params: FilterParams;
  takeBack(): void;
}

/** The events that listeners get; the host has to send some more. */
export class EventFilter {
  #shown: ReadonlySet<string> | undefined;

  /** What to send to a host that does not know the filter; undefined without a filter. */
  get params(): FilterParams | undefined {
    return this.#shown && { events: [...new Set([...this.#shown, ...needed])] };
  }

  shows({ type }: SessionEvent): boolean {
    return this.#shown?.has(type) ?? true;
  }

  /** Takes effect at once; `takeBack` undoes it if the host refuses. */
  change({ events }: FilterParams): FilterChange {
    const before = this.#shown;
    // Leaves it to the host to reject a value that is not a list.
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

  /** Removes the filter: every host starts without one. */
  reset(): void {
    this.#shown = undefined;
  }
}
