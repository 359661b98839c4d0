import type { Subagent } from "../runners/subagent-runner.ts";

export interface ClientShareOptions<Item> {
  /** The items for the subagent, as of now. */
  readonly items: () => readonly Item[];
  readonly onChange: (listener: () => void) => () => void;
  /** Undefined if the subagent's host does not support the command. */
  readonly pass: (subagent: Subagent, items: readonly Item[]) => Promise<void> | undefined;
}

/** Passes a client's tools or URIs to a subagent: at its start, and whenever they are replaced. */
export class ClientShare<Item> {
  readonly #options: ClientShareOptions<Item>;
  readonly #unfollow: () => void;
  #subagent: Subagent | undefined;
  #isGiven = false;

  constructor(options: ClientShareOptions<Item>) {
    this.#options = options;
    this.#unfollow = options.onChange(() => void this.#pass());
  }

  /** Passes all items. A host without the command works without them. */
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
