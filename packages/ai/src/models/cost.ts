import type { ModelCost, UsageCost } from "@tau-agent/rpc-protocol/messages";
import type { TokenCounts } from "../provider.ts";

const tokensPerRate = 1_000_000;
const tierFactors: Readonly<Record<string, number>> = { flex: 0.5, priority: 2 };

/**
 * Prices a call in US dollars. The tier with the highest threshold below the whole input replaces
 * the rates of the call; writes to the one-hour cache cost twice the input rate. The service tiers
 * `flex` and `priority` halve and double the price.
 */
export function computeCost(
  cost: ModelCost,
  tokens: TokenCounts,
  serviceTier?: string | undefined,
): UsageCost {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = tokens;
  const rates = ratesFor(cost, input + cacheRead + cacheWrite);
  const factor = tierFactors[serviceTier ?? ""] ?? 1;
  const price = (tokensTimesRate: number) => (tokensTimesRate * factor) / tokensPerRate;
  const shortWrite = Math.max(0, cacheWrite - cacheWrite1h);
  const parts = {
    input: price(input * rates.input),
    output: price(output * rates.output),
    cacheRead: price(cacheRead * rates.cacheRead),
    cacheWrite: price(shortWrite * rates.cacheWrite + cacheWrite1h * rates.input * 2),
  };
  return { ...parts, total: parts.input + parts.output + parts.cacheRead + parts.cacheWrite };
}

/** Replaces the total by what the vendor charged and scales the parts so that they still add up. */
export function withVendorTotal(cost: UsageCost, total: number): UsageCost {
  if (cost.total === 0) return { ...cost, total };
  const factor = total / cost.total;
  return {
    input: cost.input * factor,
    output: cost.output * factor,
    cacheRead: cost.cacheRead * factor,
    cacheWrite: cost.cacheWrite * factor,
    total,
  };
}

function ratesFor(cost: ModelCost, inputTokens: number): Omit<ModelCost, "tiers"> {
  let best: Omit<ModelCost, "tiers"> = cost;
  let threshold = -1;
  for (const tier of cost.tiers ?? []) {
    if (tier.inputTokensAbove >= inputTokens || tier.inputTokensAbove <= threshold) continue;
    best = tier;
    threshold = tier.inputTokensAbove;
  }
  return best;
}
