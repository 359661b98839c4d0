import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import type { PromptInput } from "../user-input/input.ts";

/** The disposition of an accepted prompt, and its end. */
export interface PromptAcceptance {
  readonly disposition: "started" | "queued" | "handled";
  /** Resolves once nothing is running and nothing is queued; never rejects. */
  readonly result: Promise<PromptResult>;
}

/** How to treat a prompt. */
export interface PromptOptions extends PromptInput {
  /** During a run: interrupt it, or wait for its end. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
  /** Repeated in `prompt_result`. */
  readonly id?: string | number | undefined;
  /** Where it comes from, for extensions. Default `rpc`. */
  readonly source?: "interactive" | "rpc" | "extension" | undefined;
}
