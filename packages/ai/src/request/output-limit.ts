import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { StreamOptions } from "../provider.ts";

/** The minimum that OpenAI's Responses accepts; also requested when the window is full. */
export const minOutputTokens = 16;
/** The smallest budget that vendors accept. */
const minBudgetTokens = 1024;

/** The maximum tokens of a reply: the lowest of the model's limit, the caller's limit and the rest of the window. */
export function outputLimit(
  { maxTokens, contextWindow }: Pick<Model, "maxTokens" | "contextWindow">,
  { maxTokens: asked, inputTokens = 0 }: StreamOptions,
): number {
  const left = Math.max(contextWindow - inputTokens, minOutputTokens);
  // The limits of a local model may be unknown.
  const limits = [maxTokens > 0 && maxTokens, asked, contextWindow > 0 && left];
  const known = limits.filter((limit) => typeof limit === "number");
  return Math.min(...known, Number.MAX_SAFE_INTEGER);
}

/** A budget of any size, unchanged if the limit allows it. */
export function budgetBelow(wanted: number, limit: number): number | undefined {
  return wanted < limit ? wanted : fittingBudget(wanted, limit);
}

/**
 * A thinking budget that fits into an output limit and leaves room for the reply; undefined if the vendors'
 * minimum does not fit.
 */
export function fittingBudget(wanted: number, limit: number): number | undefined {
  const budget = Math.max(minBudgetTokens, Math.min(wanted, limit - minBudgetTokens));
  return budget < limit ? budget : undefined;
}
