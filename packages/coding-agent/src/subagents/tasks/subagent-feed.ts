import type { EventOrder, SessionEvent, SubagentLevel } from "@tau-agent/rpc-protocol";
import { SparseSet } from "@tau-agent/system";
import type { Subagent } from "../runners/subagent-runner.ts";

/** The words of oh-my-pi 18 for the levels. */
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

  /** Sets what is reported from now on, of subagents that run already, too. */
  async setLevel(level: SubagentLevel): Promise<void> {
    this.#level = level in levelNames ? levelNames[level as keyof typeof levelNames] : level;
    await Promise.all([...this.#running].map((subagent) => this.#tell(subagent)));
  }

  /** A subagent has started; its own subagents report what this session reports. */
  async join(subagent: Subagent): Promise<void> {
    this.#running.add(subagent);
    if (this.#level !== "none") await this.#tell(subagent);
  }

  leave(subagent: Subagent): void {
    this.#running.delete(subagent);
  }

  /** What the session reports when one of its subagents sends an event; undefined for nothing. */
  reportOf(id: string, event: SessionEvent): SessionEvent | undefined {
    // A subagent's own subagents are reported under its id.
    if (event.type.startsWith("subagent_")) {
      return "id" in event ? ({ ...event, id: `${id}/${event.id}` } as SessionEvent) : undefined;
    }
    const isAsked =
      this.#level === "all" || (this.#level === "activity" && activity.has(event.type));
    return isAsked ? { type: "subagent_event", id, event: shortened(event) } : undefined;
  }

  /** One that ends meanwhile, or a host that knows no levels, reports nothing. */
  async #tell(subagent: Subagent): Promise<void> {
    await subagent.setEventLevel(this.#level).catch(() => undefined);
  }
}

/** Without its place in the other session, and without what makes a reply quadratic. */
function shortened(event: SessionEvent): { type: string } {
  const { seq: _, promptId: __, ...shown } = event as SessionEvent & Partial<EventOrder>;
  if (shown.type !== "message_update") return shown;
  const { partial: ___, ...step } = shown.assistantMessageEvent as { partial?: unknown };
  return { type: shown.type, assistantMessageEvent: step } as { type: string };
}
