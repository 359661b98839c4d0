import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import type { OutputSchema } from "@tau-agent/system";
import type { PromptInput } from "../user-input/input.ts";
import type { Until } from "./step-limits.ts";

/** How a prompt was accepted, and its result to come. */
export interface PromptAcceptance {
  /** `duplicate`: the session already had a prompt with this id, so nothing starts. */
  readonly disposition: "started" | "queued" | "handled" | "duplicate";
  /** The id of the prompt, which its events carry. */
  readonly promptId: string;
  /** The id for `cancelQueued`, if the prompt was queued. */
  readonly itemId?: string | undefined;
  /** Resolves once nothing is running and nothing is queued; never rejects. */
  readonly result: Promise<PromptResult>;
}

/** The options of a prompt. */
export interface PromptOptions extends PromptInput {
  /** During a run: interrupt it, or wait until it ends. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
  /**
   * The id of the prompt: 1 to 128 letters, digits, `_` and `-`; generated if absent. A prompt whose id the session
   * already has starts nothing, so a prompt can safely be sent again if it is unknown whether it was accepted.
   */
  readonly promptId?: string | undefined;
  /** With the id of a known prompt: if its run was cut off because the host died, it continues from there. */
  readonly resume?: boolean | undefined;
  /** How far the prompt goes before it pauses; counted from 0 again when it is resumed. */
  readonly until?: Until | undefined;
  /** Repeated in `prompt_result`. */
  readonly id?: string | number | undefined;
  /**
   * The schema of the answer: a zod type, or a JSON Schema. The model has three attempts; the result has `output`,
   * `outputStatus` and `outputAttempts`.
   */
  readonly outputSchema?: OutputSchema | undefined;
  /**
   * The span that the prompt's run belongs to, as in W3C Trace Context; by default the active one. Ignored if
   * malformed, or while telemetry is off.
   */
  readonly traceparent?: string | undefined;
  /** The source of the prompt, for extensions. Default `rpc`. */
  readonly source?: "interactive" | "rpc" | "extension" | undefined;
}
