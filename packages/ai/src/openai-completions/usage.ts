import type { Delta } from "../provider.ts";
import type { ChunkUsage } from "./chunk.ts";

/** Their token counts → ours: cached tokens leave `input`, reasoning is a part of `output`. */
export function readUsage(usage: ChunkUsage, serviceTier?: string | null): Delta {
  const details = usage.prompt_tokens_details;
  const prompt = usage.prompt_tokens ?? 0;
  const cacheRead =
    details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? 0;
  const cacheWrite = details?.cache_write_tokens ?? 0;
  const input = Math.max(0, prompt - cacheRead - cacheWrite);
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? undefined;
  const output = outputTokens(usage, prompt, reasoning ?? 0);
  return {
    type: "usage",
    tokens: {
      input,
      output,
      cacheRead,
      cacheWrite,
      ...(reasoning !== undefined && { reasoning }),
      totalTokens: usage.total_tokens ?? prompt + output,
    },
    ...(typeof usage.cost === "number" && { costTotal: usage.cost }),
    ...(serviceTier && { serviceTier }),
  };
}

function outputTokens(usage: ChunkUsage, prompt: number, reasoning: number): number {
  const completion = usage.completion_tokens ?? 0;
  // xAI counts reasoning beside the completion; its total gives that away.
  const isBeside = reasoning > 0 && usage.total_tokens === prompt + completion + reasoning;
  return isBeside ? completion + reasoning : completion;
}
