import * as z from "zod/mini";
import { BudgetLimits, BudgetSnapshot, OnExceeded } from "../vocabulary/budget.ts";
import { command } from "./command.ts";

const budget = () =>
  z.object({
    /** The limits. */
    limits: BudgetLimits,
    /** What has been used so far. */
    snapshot: BudgetSnapshot,
    /** What happens when a limit is used up. */
    onExceeded: OnExceeded,
  });

/** What a session and its subagents may use. */
export const budgetCommands = {
  set_budget: command({
    summary:
      "Sets limits for the session and its subagents; limits that are absent do not change, and `clear` removes limits. A session whose budget is used up continues once the limit is raised.",
    params: () =>
      z.extend(BudgetLimits, {
        /** Limits to remove. */
        clear: z.optional(z.array(z.keyof(BudgetLimits))),
        /** What happens when a limit is used up: the work stops, or the client is asked (`budget`). */
        onExceeded: z.optional(OnExceeded),
      }),
    result: budget,
    // A misspelt limit would be no limit at all.
    refusesUnknown: true,
    // None: a client method takes all of them by name.
    positional: [],
  }),
  get_budget: command({
    summary: "Returns the limits and how much of them is used.",
    result: budget,
  }),
};
