import type { budgetCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers, SessionContext } from "./contexts.ts";

export const budgetHandlers = {
  set_budget: ({ session: { budget } }, limits) => {
    budget.setLimits(limits);
    return stateOf(budget);
  },
  get_budget: ({ session: { budget } }) => stateOf(budget),
} satisfies Pick<HostHandlers, keyof typeof budgetCommands>;

function stateOf({ limits, snapshot, onExceeded }: SessionContext["session"]["budget"]) {
  return { limits, snapshot, onExceeded };
}
