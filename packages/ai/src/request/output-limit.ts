import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { StreamOptions } from "../provider.ts";

/** The least that OpenAI's Responses takes, and that is asked for where the window is full. */
export const minOutputTokens = 16;
/** The least budget that vendors take. */
const minBudgetTokens = 1024;

/** Most tokens of a reply: the model's own limit, the caller's, or what is left of the window. */
export function outputLimit(
  { maxTokens, contextWindow }: Pick<Model, "maxTokens" | "contextWindow">,
  { maxTokens: asked, inputTokens = 0 }: StreamOptions,
): number {
  const left = Math.max(contextWindow - inputTokens, minOutputTokens);
  // Nobody may know the size of a local model.
  const limits = [maxTokens > 0 && maxTokens, asked, contextWindow > 0 && left];
  const known = limits.filter((limit) => typeof limit === "number");
  return Math.min(...known, Number.MAX_SAFE_INTEGER);
}

/** A budget of any size, as it is where the limit allows it. */
export function budgetBelow(wanted: number, limit: number): number | undefined {
  return wanted < limit ? wanted : fittingBudget(wanted, limit);
}

/**
 * The thinking budget that fits into an output limit and leaves room for the reply; undefined where
 * the least that vendors take does not fit.
 */
export function fittingBudget(wanted: number, limit: number): number | undefined {
  const budget = Math.max(minBudgetTokens, Math.min(wanted, limit - minBudgetTokens));
  return budget < limit ? budget : undefined;
}
