import type { Model, ModelCost, UsageCost } from "@tau-agent/rpc-protocol/messages";
import type { TokenCounts } from "../provider.ts";

const tokensPerRate = 1_000_000;
/** The price of a service tier, as a multiple of the catalogue's rates. */
interface TierPrice {
  /** The models' ids; all models if absent. */
  readonly models?: RegExp;
  readonly factor: number;
}

/**
 * Prices of service tiers by provider; the first matching row counts. A tier that is not listed costs the
 * catalogue's rates:
 *
 * - Anthropic's `priority` uses capacity bought in advance; `batch` cannot stream.
 *   https://platform.claude.com/docs/en/api/service-tiers
 * - Groq's `flex` and `performance` have on-demand prices, or those of a contract.
 *   https://console.groq.com/docs/service-tiers
 * - Gateways that know their tiers report what they charged.
 */
const tierPrices: Readonly<Record<string, Readonly<Record<string, readonly TierPrice[]>>>> = {
  // https://openai.com/api-priority-processing/ and
  // https://developers.openai.com/api/docs/guides/flex-processing (the rates of the Batch API).
  openai: {
    flex: [{ factor: 0.5 }],
    priority: [
      { models: /^gpt-5\.5/, factor: 2.5 },
      { models: /^gpt-5-mini/, factor: 1.8 },
      { models: /^gpt-4\.1(?!-nano)/, factor: 1.75 },
      { factor: 2 },
    ],
  },
  // https://ai.google.dev/gemini-api/docs/optimization: half, and 75 % to 100 % more.
  google: {
    flex: [{ factor: 0.5 }],
    priority: [{ factor: 1.8 }],
  },
};

/** The factor by which the price of a call in a service tier differs from the catalogue's rates. */
export function serviceTierFactor(
  { provider, id }: Pick<Model, "provider" | "id">,
  serviceTier: string | undefined,
): number {
  const tiers = Object.hasOwn(tierPrices, provider) ? tierPrices[provider] : undefined;
  const tier = serviceTier?.toLowerCase() ?? "";
  const prices = tiers !== undefined && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
  return prices?.find(({ models }) => models === undefined || models.test(id))?.factor ?? 1;
}

/**
 * Computes the price of a call in US dollars. The tier with the highest threshold below the whole input
 * replaces the rates of the call; writes to the one-hour cache cost twice the input rate.
 *
 * @param factor - of the service tier, see {@link serviceTierFactor}
 */
export function computeCost(cost: ModelCost, tokens: TokenCounts, factor = 1): UsageCost {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = tokens;
  const rates = ratesFor(cost, input + cacheRead + cacheWrite);
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

/** Replaces the total with the amount that the vendor charged, and scales the parts so that they still add up. */
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
