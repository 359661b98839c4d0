import type { BudgetLimits, BudgetSnapshot, BudgetViolationReason } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Consumption } from "@tau-agent/sessions/log";

/** The name of a limit in `set_budget` and the settings. */
export type LimitName = keyof BudgetLimits;

export type Measure = Exclude<keyof BudgetSnapshot, "status" | "reason">;

export interface Dimension {
  readonly reason: BudgetViolationReason;
  readonly limit: LimitName;
  readonly measure: Measure;
  /** Whether it is a count. A count may reach its limit; a measured amount is exceeded when it reaches it. */
  readonly isCount: boolean;
  readonly inWords: (amount: number) => string;
  /** The unit of what is counted or measured, for texts about the limit. */
  readonly unit: string;
}

export function snapshotOf(
  { cacheReadTokens: _read, cacheWriteTokens: _write, ...used }: Consumption,
  {
    status,
    wallTimeMs,
    reason,
  }: Pick<BudgetSnapshot, "status" | "wallTimeMs"> & {
    readonly reason: BudgetViolationReason | undefined;
  },
): BudgetSnapshot {
  const cause = reason === undefined ? {} : { reason };
  return { status, wallTimeMs: Math.round(wallTimeMs), ...used, ...cause };
}

export function refusalOf(
  { reason, limit: name }: Pick<Dimension, "reason" | "limit">,
  { used, limit }: { readonly used: number; readonly limit: number | undefined },
): SessionError {
  return new SessionError("budget_exceeded", {
    dimension: reason,
    used: String(Math.round(used * 10_000) / 10_000),
    limit: String(limit),
    setting: limitSettings[name],
  });
}

const plain = (amount: number): string => String(amount);

/** The number of subagents, which is checked when one is started. */
export const subagentDimension: Dimension = {
  reason: "subagents",
  limit: "maxSubagents",
  measure: "subagents",
  isCount: true,
  inWords: plain,
  unit: "subagents",
};

/** All limits, in the order in which they are checked. */
export const dimensions: readonly Dimension[] = [
  {
    reason: "wall_time",
    limit: "maxWallTimeMs",
    measure: "wallTimeMs",
    isCount: false,
    inWords: (ms) => `${Math.round(ms / 100) / 10} s`,
    unit: "of wall time",
  },
  amount("input_tokens", "maxInputTokens", "inputTokens"),
  amount("output_tokens", "maxOutputTokens", "outputTokens"),
  amount("total_tokens", "maxTotalTokens", "totalTokens"),
  {
    reason: "cost",
    limit: "maxCostUsd",
    measure: "costUsd",
    isCount: false,
    inWords: (dollars) => `$${Math.round(dollars * 10_000) / 10_000}`,
    unit: "of cost",
  },
  {
    reason: "tool_calls",
    limit: "maxToolCalls",
    measure: "toolCalls",
    isCount: true,
    inWords: plain,
    unit: "tool calls",
  },
  subagentDimension,
];

/** The setting of each limit. */
export const limitSettings = Object.fromEntries(
  dimensions.map(({ limit }) => [limit, `task.budget.${limit}`]),
) as { readonly [Name in LimitName]: `task.budget.${Name}` };

function amount(reason: BudgetViolationReason, limit: LimitName, measure: Measure): Dimension {
  const unit = reason.replace("_", " ");
  return { reason, limit, measure, isCount: false, inWords: plain, unit };
}
