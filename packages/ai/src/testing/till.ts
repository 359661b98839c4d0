import type { TokenCounts } from "../provider.ts";
import type { LoopbackApi } from "./loopback-api.ts";
import type { RuleRequest } from "./rules/rule.ts";
import type { Turn } from "./scenario.ts";

export interface Till {
  /** The formats that it charges for; others are not served. */
  readonly serves: readonly LoopbackApi[];
  /** The reply to a request that the scenario is not asked about. */
  turnFor(request: RuleRequest): Turn | undefined;
  /** The usage that the reply states. */
  charge(request: RuleRequest, turn: Turn, model: string): Promise<TokenCounts>;
}
