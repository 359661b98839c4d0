import type { BudgetParams, BudgetResult } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Answer } from "@tau-agent/system";
import { type Dimension, limitSettings } from "./dimensions.ts";

export interface BudgetStep {
  /** Tool calls that are already counted but have not begun. */
  readonly calls?: number | undefined;
  readonly agentId?: string | undefined;
  readonly toolCallId?: string | undefined;
  /** Aborts when the step is no longer needed; by default with the current work. */
  readonly signal?: AbortSignal | undefined;
}

export interface BudgetQuestion {
  readonly params: BudgetParams;
  readonly read: (result: unknown) => Answer<BudgetResult>;
}

/** Asks about a limit; `counted` is the amount compared with the limit. */
export function budgetQuestion(
  { reason, isCount, inWords, unit, measure, limit: name }: Dimension,
  { limit, counted, step }: { limit: number; counted: number; step: BudgetStep },
): BudgetQuestion {
  const { calls = 0, agentId } = step;
  // Calls that have not begun are counted, but not used.
  const waiting = measure === "toolCalls" ? calls : 0;
  const used = isCount ? Math.min(counted - waiting, limit) : counted;
  const more = waiting > 1 ? `, and ${waiting} more are asked for` : "";
  const agent = agentId === undefined ? "" : ` (agent ${agentId})`;
  const title = `Budget${agent}: ${inWords(used)} of ${inWords(limit)} ${unit} used${more}. Continue?`;
  const setting = limitSettings[name];
  const params = { dimension: reason, limit, used, setting, scope: "session", title } as const;
  return { params, read: (result) => readBudgetResult(result, params) };
}

function readBudgetResult(
  result: unknown,
  { limit: current, used }: BudgetParams,
): Answer<BudgetResult> {
  if (!isJsonObject(result)) {
    return { field: "result", reason: "expected an object with limit, or stop: true" };
  }
  if (result.stop === true) return { result: { stop: true }, outcome: "stopped" };
  const { limit } = result;
  const least = Math.max(current, used);
  if (typeof limit === "number" && Number.isFinite(limit) && limit > least) {
    return { result: { limit }, outcome: "raised" };
  }
  const shown = limit === undefined ? "nothing" : JSON.stringify(limit).slice(0, 60);
  return {
    field: "result.limit",
    reason: `expected a number above ${least}, or stop: true, got ${shown}`,
  };
}
