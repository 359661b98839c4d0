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
    // Strict, because a misspelt limit would otherwise be ignored and limit nothing.
    refusesUnknown: true,
    // No positional arguments: a client method takes all members by name.
    positional: [],
  }),
  get_budget: command({
    summary: "Returns the limits and how much of them is used.",
    result: budget,
  }),
};
