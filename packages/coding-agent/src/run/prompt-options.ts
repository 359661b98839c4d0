import type { PromptInput } from "../user-input/input.ts";
import type { PromptResult } from "./prompt-tracker.ts";

/** What became of an accepted prompt, and its end. */
export interface PromptAcceptance {
  readonly disposition: "started" | "queued" | "handled";
  /** Fulfilled once nothing is running and nothing is queued; never rejected. */
  readonly result: Promise<PromptResult>;
}

/** How a prompt is to be treated. */
export interface PromptOptions extends PromptInput {
  /** While a run is on: interrupt it, or wait for its end. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
  /** Comes back in `prompt_result`. */
  readonly id?: string | number | undefined;
  /** Where it comes from, as extensions are told. Default `rpc`. */
  readonly source?: "interactive" | "rpc" | "extension" | undefined;
}
