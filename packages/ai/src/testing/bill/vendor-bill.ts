import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { LoopbackApi } from "../loopback-api.ts";
import type { RuleRequest } from "../rules/rule.ts";
import type { Charge } from "./charge.ts";
import type { Prompt } from "./prompt.ts";

export interface VendorBill {
  /** The wire formats that the vendor accepts. */
  readonly apis: readonly LoopbackApi[];
  /** Reads a request the way the vendor's cache does. */
  read(request: RuleRequest): Prompt;
  /** The charge for the input; `ids` are those of the prompt's prefixes. */
  charge(prompt: Prompt, ids: readonly number[], model: Model, now: number): Charge;
}
