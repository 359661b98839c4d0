import type { RunnableHostTool } from "../../host-tools/host-tools.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

export interface HostToolShareOptions {
  /** Those that the subagent gets, now. */
  readonly tools: () => readonly RunnableHostTool[];
  readonly onChange: (listener: () => void) => () => void;
}

/** The client's tools for a subagent: at its start, and whenever they are replaced. */
export class HostToolShare {
  readonly #options: HostToolShareOptions;
  readonly #unfollow: () => void;
  #subagent: Pick<Subagent, "setHostTools"> | undefined;
  #isGiven = false;

  constructor(options: HostToolShareOptions) {
    this.#options = options;
    this.#unfollow = options.onChange(() => void this.#pass());
  }

  /** Hands over the tools. A host without the command does its work without them. */
  async bind(subagent: Pick<Subagent, "setHostTools">): Promise<void> {
    this.#subagent = subagent;
    await this.#pass();
  }

  end(): void {
    this.#unfollow();
  }

  async #pass(): Promise<void> {
    const tools = this.#options.tools();
    if (tools.length === 0 && !this.#isGiven) return;
    const subagent = this.#subagent;
    if (subagent === undefined) return;
    this.#isGiven = true;
    await subagent.setHostTools?.(tools).catch(() => undefined);
  }
}
