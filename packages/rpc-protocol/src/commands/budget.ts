import * as z from "zod/mini";
import { BudgetLimits, BudgetSnapshot } from "../budget.ts";
import { command } from "../command.ts";
import { noParams } from "./shared.ts";

const limit = () => z.optional(z.nullable(z.number().check(z.nonnegative())));

const budget = () => z.object({ limits: BudgetLimits, snapshot: BudgetSnapshot });

/** What a session and its subagents may use. */
export const budgetCommands = {
  set_budget: command({
    summary:
      "Sets limits for the session and its subagents; null takes one away, what is absent stays. A session whose budget ran out goes on once the limit is raised.",
    params: () =>
      z.object({
        maxWallTimeMs: limit(),
        maxInputTokens: limit(),
        maxOutputTokens: limit(),
        maxTotalTokens: limit(),
        maxCostUsd: limit(),
        maxToolCalls: limit(),
        maxSubagents: limit(),
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
