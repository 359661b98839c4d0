import * as z from "zod/mini";

/** What a budget can run out of. */
export const BudgetViolationReason = z.enum([
  "wall_time",
  "input_tokens",
  "output_tokens",
  "total_tokens",
  "cost",
  "tool_calls",
  "subagents",
]);
export type BudgetViolationReason = z.infer<typeof BudgetViolationReason>;

/** What a session and its subagents have used, and how that stands to its limits. */
export const BudgetSnapshot = z.object({
  status: z.enum(["ok", "warning", "exceeded"]),
  wallTimeMs: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  totalTokens: z.number(),
  costUsd: z.number(),
  toolCalls: z.number(),
  subagents: z.number(),
  reason: z.optional(BudgetViolationReason),
});
export type BudgetSnapshot = z.infer<typeof BudgetSnapshot>;

const limit = z.number().check(z.nonnegative());

/** Limits by dimension; one that is absent means no limit. */
export const BudgetLimits = z.object({
  maxWallTimeMs: z.optional(limit),
  maxInputTokens: z.optional(limit),
  maxOutputTokens: z.optional(limit),
  maxTotalTokens: z.optional(limit),
  maxCostUsd: z.optional(limit),
  maxToolCalls: z.optional(limit),
  maxSubagents: z.optional(limit),
});
export type BudgetLimits = z.infer<typeof BudgetLimits>;

const report = {
  scope: z.enum(["session", "task", "subagent"]),
  snapshot: BudgetSnapshot,
};

/** One warning per dimension, and one word when a limit is crossed. */
export const budgetEvents = [
  z.object({ type: z.literal("budget_warning"), ...report }),
  z.object({ type: z.literal("budget_exceeded"), ...report }),
] as const;
