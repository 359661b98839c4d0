import type { AgentTool } from "@tau-agent/agent";

/** A session's tools, and which of them the model may use. */
export class ToolSet {
  #all: readonly AgentTool[];
  #active: readonly AgentTool[];

  constructor(all: readonly AgentTool[], active: readonly AgentTool[]) {
    this.#all = all;
    this.#active = active;
  }

  /** All tools, in a fixed order. */
  get all(): readonly AgentTool[] {
    return this.#all;
  }

  /** The tools the model sees; the same list until something changes. */
  get active(): readonly AgentTool[] {
    return this.#active;
  }

  /** Activates exactly these; unknown names are ignored. */
  activate(names: Iterable<string>): void {
    const wanted = new Set(names);
    this.#active = this.#all.filter((tool) => wanted.has(tool.name));
  }

  /** Adopts another list, in which the tools of these names are active in any case. */
  replaceWith(all: readonly AgentTool[], names: ReadonlySet<string>): void {
    const before = new Set(this.#active.map(({ name }) => name));
    const known = new Set(this.#all.map(({ name }) => name));
    this.#all = all;
    this.#active = all.filter(
      ({ name }) => names.has(name) || before.has(name) || !known.has(name),
    );
  }

  /** Adopts another list; new tools become active as `active` says, others stay as they are. */
  replace(all: readonly AgentTool[], active: readonly AgentTool[]): void {
    const known = new Set(this.#all.map(({ name }) => name));
    const before = new Set(this.#active.map(({ name }) => name));
    const wanted = new Set(active);
    this.#all = all;
    this.#active = all.filter((tool) =>
      known.has(tool.name) ? before.has(tool.name) : wanted.has(tool),
    );
  }
}
