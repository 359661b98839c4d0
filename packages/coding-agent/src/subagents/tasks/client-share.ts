import type { Subagent } from "../runners/subagent-runner.ts";

export interface ClientShareOptions<Item> {
  /** What the subagent gets, now. */
  readonly items: () => readonly Item[];
  readonly onChange: (listener: () => void) => () => void;
  /** Undefined for a host without the command. */
  readonly pass: (subagent: Subagent, items: readonly Item[]) => Promise<void> | undefined;
}

/** What the client runs or serves, for a subagent: at its start, and whenever it is replaced. */
export class ClientShare<Item> {
  readonly #options: ClientShareOptions<Item>;
  readonly #unfollow: () => void;
  #subagent: Subagent | undefined;
  #isGiven = false;

  constructor(options: ClientShareOptions<Item>) {
    this.#options = options;
    this.#unfollow = options.onChange(() => void this.#pass());
  }

  /** Hands everything over. A host without the command does its work without it. */
  async bind(subagent: Subagent): Promise<void> {
    this.#subagent = subagent;
    await this.#pass();
  }

  end(): void {
    this.#unfollow();
  }

  async #pass(): Promise<void> {
    const items = this.#options.items();
    if (items.length === 0 && !this.#isGiven) return;
    const subagent = this.#subagent;
    if (subagent === undefined) return;
    this.#isGiven = true;
    await this.#options.pass(subagent, items)?.catch(() => undefined);
  }
}
