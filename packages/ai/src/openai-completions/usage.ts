import type { Delta } from "../provider.ts";
import { asCount, asObject } from "../reply/odd-values.ts";
import { readVendorCost } from "../reply/vendor-cost.ts";
import type { ChunkUsage } from "./chunk.ts";

/** Converts the server's token counts: cached tokens are removed from `input`, and reasoning is a part of `output`. */
export function readUsage(usage: ChunkUsage, serviceTier?: string | null): Delta {
  const details = asObject(usage.prompt_tokens_details);
  const prompt = asCount(usage.prompt_tokens) ?? 0;
  const total = asCount(usage.total_tokens);
  const cacheRead =
    asCount(details.cached_tokens) ??
    asCount(usage.prompt_cache_hit_tokens) ??
    asCount(usage.cached_tokens) ??
    0;
  const cacheWrite = asCount(details.cache_write_tokens) ?? 0;
  const input = Math.max(0, prompt - cacheRead - cacheWrite);
  const reasoning = asCount(asObject(usage.completion_tokens_details).reasoning_tokens);
  const completion = asCount(usage.completion_tokens) ?? 0;
  // xAI does not include reasoning in the completion count, which its total reveals.
  const isBeside =
    reasoning !== undefined && reasoning > 0 && total === prompt + completion + reasoning;
  const output = isBeside ? completion + reasoning : completion;
  const costTotal = readVendorCost(usage);
  return {
    type: "usage",
    tokens: {
      input,
      output,
      cacheRead,
      cacheWrite,
      ...(reasoning !== undefined && { reasoning }),
      totalTokens: total ?? prompt + output,
    },
    ...(costTotal !== undefined && { costTotal }),
    ...(serviceTier && { serviceTier }),
  };
}
