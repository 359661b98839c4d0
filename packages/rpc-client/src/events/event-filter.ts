import type { Params, SessionEvent } from "@tau-agent/rpc-protocol";

type FilterParams = Params<"set_event_filter">;

/** Events that the client itself needs, to rebuild replies and to detect the end of work. */
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

/** Filters the events for listeners; the host has to send a few more. */
export class EventFilter {
  #shown: ReadonlySet<string> | undefined;

  /** The parameters for a host that does not have the filter yet; undefined without a filter. */
  get params(): FilterParams | undefined {
    return this.#shown && { events: [...new Set([...this.#shown, ...needed])] };
  }

  shows({ type }: SessionEvent): boolean {
    return this.#shown?.has(type) ?? true;
  }

  /** Takes effect at once; `takeBack` reverts it if the host refuses. */
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
