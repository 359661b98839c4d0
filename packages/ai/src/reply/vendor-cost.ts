import { asCount, asObject } from "./odd-values.ts";

/** xAI bills in ten-thousand-millionths of a dollar. */
const ticksPerDollar = 10_000_000_000;

/**
 * The cost of a reply in US dollars as reported by the vendor; undefined if it reports none.
 *
 * - OpenRouter: `cost`. With the user's own key for the upstream vendor, `cost` is only OpenRouter's fee, and
 *   `cost_details.upstream_inference_cost` is the upstream's bill.
 *   https://openrouter.ai/docs/use-cases/usage-accounting
 * - Perplexity: `cost.total_cost`. xAI: `cost_in_usd_ticks`. DeepInfra: `estimated_cost`.
 */
export function readVendorCost(usage: object): number | undefined {
  const said = usage as Readonly<Record<string, unknown>>;
  const { total_cost } = members(said.cost);
  const charged = asCount(said.cost) ?? asCount(total_cost);
  if (charged !== undefined) {
    const { upstream_inference_cost } = members(said.cost_details);
    return charged + (said.is_byok === true ? (asCount(upstream_inference_cost) ?? 0) : 0);
  }
  const ticks = asCount(said.cost_in_usd_ticks);
  return ticks === undefined ? asCount(said.estimated_cost) : ticks / ticksPerDollar;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return asObject(value as Readonly<Record<string, unknown>> | undefined);
}
