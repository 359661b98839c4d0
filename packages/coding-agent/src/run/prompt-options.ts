import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import type { OutputSchema } from "@tau-agent/system";
import type { PromptInput } from "../user-input/input.ts";
import type { Until } from "./step-limits.ts";

/** The disposition of an accepted prompt, and its end. */
export interface PromptAcceptance {
  /** `duplicate`: the session already had a prompt with this id, so nothing starts. */
  readonly disposition: "started" | "queued" | "handled" | "duplicate";
  /** The id of the prompt, which its events carry. */
  readonly promptId: string;
  /** What `cancelQueued` takes, if it was queued. */
  readonly itemId?: string | undefined;
  /** Resolves once nothing is running and nothing is queued; never rejects. */
  readonly result: Promise<PromptResult>;
}

/** How to treat a prompt. */
export interface PromptOptions extends PromptInput {
  /** During a run: interrupt it, or wait for its end. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
  /**
   * The id of the prompt: 1 to 128 letters, digits, `_` and `-`; made if absent. A prompt whose id the
   * session already has starts nothing, so one that may have been accepted can be sent again.
   */
  readonly promptId?: string | undefined;
  /**
   * With the id of a prompt that the session has: if its run did not end, because the host died, it goes
   * on from where it was.
   */
  readonly resume?: boolean | undefined;
  /** How far it goes before it pauses; counted from 0 again when it is resumed. */
  readonly until?: Until | undefined;
  /** Repeated in `prompt_result`. */
  readonly id?: string | number | undefined;
  /**
   * What the answer has to fit: a zod type, or a JSON Schema. The model has three attempts; the result
   * has `output`, `outputStatus` and `outputAttempts`.
   */
  readonly outputSchema?: OutputSchema | undefined;
  /**
   * The span that the prompt's run belongs to, as in W3C Trace Context; by default the active one. Ignored
   * where it is malformed, and while telemetry is off.
   */
  readonly traceparent?: string | undefined;
  /** Where it comes from, for extensions. Default `rpc`. */
  readonly source?: "interactive" | "rpc" | "extension" | undefined;
}
