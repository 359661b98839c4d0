import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { LoopbackApi } from "../loopback-api.ts";
import type { RuleRequest } from "../rules/rule.ts";
import type { Charge } from "./charge.ts";
import type { Prompt } from "./prompt.ts";

export interface VendorBill {
  /** The wire formats in which it is asked. */
  readonly apis: readonly LoopbackApi[];
  /** Reads a request as the vendor's cache does. */
  read(request: RuleRequest): Prompt;
  /** What the input costs; `ids` are those of the prompt's beginnings. */
  charge(prompt: Prompt, ids: readonly number[], model: Model, now: number): Charge;
}
