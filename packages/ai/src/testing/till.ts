import type { TokenCounts } from "../provider.ts";
import type { LoopbackApi } from "./loopback-api.ts";
import type { RuleRequest } from "./rules/rule.ts";
import type { Turn } from "./scenario.ts";

export interface Till {
  /** The formats that it charges for; other formats are not served. */
  readonly serves: readonly LoopbackApi[];
  /** The reply to a request that does not consult the scenario. */
  turnFor(request: RuleRequest): Turn | undefined;
  /** The usage for the reply. */
  charge(request: RuleRequest, turn: Turn, model: string): Promise<TokenCounts>;
}
