import * as z from "zod/mini";

/** The limits a budget can exceed. */
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

/** What a session and its subagents have used, and whether a limit is near or exceeded. */
export const BudgetSnapshot = z.object({
  /** Whether a limit is near or exceeded. */
  status: z.enum(["ok", "warning", "exceeded"]),
  /** Wall-clock time the session has taken, in ms. */
  wallTimeMs: z.number(),
  /** Input tokens. */
  inputTokens: z.number(),
  /** Output tokens. */
  outputTokens: z.number(),
  /** Input and output tokens together. */
  totalTokens: z.number(),
  /** Cost in US dollars. */
  costUsd: z.number(),
  /** Tool calls. */
  toolCalls: z.number(),
  /** Number of subagents started. */
  subagents: z.number(),
  /** The limit that is near or exceeded. */
  reason: z.optional(BudgetViolationReason),
});
export type BudgetSnapshot = z.infer<typeof BudgetSnapshot>;

const limit = z.number().check(z.nonnegative());

/** Limits of a budget. An absent limit does not apply. */
export const BudgetLimits = z.object({
  /** Wall-clock time, in ms. */
  maxWallTimeMs: z.optional(limit),
  /** Input tokens. */
  maxInputTokens: z.optional(limit),
  /** Output tokens. */
  maxOutputTokens: z.optional(limit),
  /** Input and output tokens together. */
  maxTotalTokens: z.optional(limit),
  /** Cost in US dollars. */
  maxCostUsd: z.optional(limit),
  /** Tool calls. */
  maxToolCalls: z.optional(limit),
  /** Number of subagents started. */
  maxSubagents: z.optional(limit),
});
export type BudgetLimits = z.infer<typeof BudgetLimits>;

/** What happens when a limit is exhausted: the work is stopped, or someone is asked whether to raise the limit. */
export const OnExceeded = z.enum(["stop", "ask"]);
export type OnExceeded = z.infer<typeof OnExceeded>;

const report = {
  /** What the budget applies to. */
  scope: z.enum(["session", "task", "subagent"]),
  /** What has been used so far. */
  snapshot: BudgetSnapshot,
};

/** One warning for each limit, and one event when a limit is exceeded. */
export const budgetEvents = [
  /** Most of a budget is used; sent once per limit. */
  z.object({ type: z.literal("budget_warning"), ...report }),
  /** A limit of a budget is exceeded. */
  z.object({ type: z.literal("budget_exceeded"), ...report }),
] as const;
