import * as z from "zod/mini";
import { BudgetLimits, BudgetSnapshot } from "../vocabulary/budget.ts";
import { command } from "./command.ts";
import { noParams } from "./shared.ts";

const budget = () =>
  z.object({
    /** The limits. */
    limits: BudgetLimits,
    /** What has been used so far. */
    snapshot: BudgetSnapshot,
  });

/** What a session and its subagents may use. */
export const budgetCommands = {
  set_budget: command({
    summary:
      "Sets limits for the session and its subagents; what is absent stays, and `clear` names limits to take away. A session whose budget ran out goes on once the limit is raised.",
    params: () =>
      z.extend(BudgetLimits, {
        /** Limits to remove. */
        clear: z.optional(z.array(z.keyof(BudgetLimits))),
      }),
    result: budget,
    // None: a client method takes all of them by name.
    positional: [],
  }),
  get_budget: command({
    summary: "Returns the limits and what is used of them.",
    params: noParams,
    result: budget,
  }),
};
