import type { EventOrder, SessionEvent, SubagentLevel } from "@tau-agent/rpc-protocol";
import { SparseSet } from "@tau-agent/system";
import type { Subagent } from "../runners/subagent-runner.ts";

/** The names of the levels in oh-my-pi 18. */
const levelNames = { off: "none", progress: "activity", events: "all" } as const;

const activity: ReadonlySet<string> = new Set([
  "agent_start",
  "agent_end",
  "tool_execution_start",
  "tool_execution_end",
]);

/** Which events of its subagents a session reports, and how. */
export class SubagentFeed {
  #level: SubagentLevel = "none";
  readonly #running = new SparseSet<Subagent>();

  /** Sets what is reported from now on, including for running subagents. */
  async setLevel(level: SubagentLevel): Promise<void> {
    this.#level = level in levelNames ? levelNames[level as keyof typeof levelNames] : level;
    await Promise.all([...this.#running].map((subagent) => this.#tell(subagent)));
  }

  /** Adds a started subagent; its own subagents are reported at the same level. */
  async join(subagent: Subagent): Promise<void> {
    this.#running.add(subagent);
    if (this.#level !== "none") await this.#tell(subagent);
  }

  leave(subagent: Subagent): void {
    this.#running.delete(subagent);
  }

  /** The event to report when a subagent sends an event; undefined for none. */
  reportOf(id: string, event: SessionEvent): SessionEvent | undefined {
    // A subagent's own subagents are reported under its id.
    if (event.type.startsWith("subagent_")) {
      return "id" in event ? ({ ...event, id: `${id}/${event.id}` } as SessionEvent) : undefined;
    }
    const isAsked =
      this.#level === "all" || (this.#level === "activity" && activity.has(event.type));
    return isAsked ? { type: "subagent_event", id, event: shortened(event) } : undefined;
  }

  /** A subagent that ends meanwhile, or whose host does not support levels, reports nothing. */
  async #tell(subagent: Subagent): Promise<void> {
    await subagent.setEventLevel(this.#level).catch(() => undefined);
  }
}

/**
 * Without its position in the other session, and without the repeated message that would make a
 * reply's size quadratic.
 */
function shortened(event: SessionEvent): { type: string } {
  const { seq: _, promptId: __, ...shown } = event as SessionEvent & Partial<EventOrder>;
  if (shown.type !== "message_update") return shown;
  const { partial: ___, ...step } = shown.assistantMessageEvent as { partial?: unknown };
  return { type: shown.type, assistantMessageEvent: step } as { type: string };
}
