import type { Handlers } from "@tau-agent/rpc-protocol";
import type { budgetCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const budgetHandlers = {
  set_budget: ({ session: { budget } }, limits) => {
    budget.setLimits(limits);
    return stateOf(budget);
  },
  get_budget: ({ session: { budget } }) => stateOf(budget),
} satisfies Pick<Handlers<Host>, keyof typeof budgetCommands>;

function stateOf({ limits, snapshot, onExceeded }: Host["session"]["budget"]) {
  return { limits, snapshot, onExceeded };
}
