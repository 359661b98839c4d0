import type { Handlers } from "@tau-agent/rpc-protocol";
import type { budgetCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const budgetHandlers = {
  set_budget: ({ session: { budget } }, limits) => {
    budget.setLimits(limits);
    return { limits: budget.limits, snapshot: budget.snapshot };
  },
  get_budget: ({ session: { budget } }) => ({ limits: budget.limits, snapshot: budget.snapshot }),
} satisfies Pick<Handlers<Host>, keyof typeof budgetCommands>;
