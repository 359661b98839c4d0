import { setTimeout } from "node:timers/promises";
import type { CommandFrame } from "@tau-agent/rpc-protocol";
import type { Logger } from "../process/logger.ts";

const prompts: ReadonlySet<string> = new Set(["prompt", "steer", "follow_up"]);

/** How long the answer is delayed, so that a program that ends with it has read stderr first. */
const HEAD_START_MS = 25;

/**
 * Warns when a client of pi 1.x may be about to fail. Such a client reads `disposition` in the answer to its
 * first prompt, which the default dialect does not have; older clients send the same bytes and do not need
 * it. The client shows what the host writes to stderr.
 */
export class NewerClientHint {
  readonly #logger: Logger;
  #isOver: boolean;

  /** @param isChosen - whether the user chose the dialect */
  constructor(logger: Logger, isChosen: boolean) {
    this.#logger = logger;
    this.#isOver = isChosen;
  }

  /** What the command has to wait for if it may be the first prompt of such a client. */
  before({ name, id }: CommandFrame): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    if (name === "initialize") this.#isOver = true;
    if (!prompts.has(name)) return undefined;
    this.#isOver = true;
    // The ids that pi's published client generates.
    if (!/^req_\d+$/.test(String(id))) return undefined;
    this.#logger.warn(
      'A client of pi 1.x needs --protocol pi-1 (or PI_RPC_PROTOCOL=pi-1): it fails with "disposition" of undefined without it. For an older client, --protocol pi leaves out this line.',
    );
    return setTimeout(HEAD_START_MS);
  }
}
