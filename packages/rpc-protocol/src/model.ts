import * as z from "zod/mini";
import { thinkingLevels } from "./thinking-levels.ts";

/** How much a model may think before it answers. */
export const ThinkingLevel = z.enum(thinkingLevels);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

const rates = {
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
};

/** Prices in US dollars per million tokens; a tier replaces them for requests above its input size. */
export const ModelCost = z.object({
  ...rates,
  tiers: z.optional(z.array(z.object({ inputTokensAbove: z.number(), ...rates }))),
});
export type ModelCost = z.infer<typeof ModelCost>;

/** A model, where it is reached, what it can do and what it costs. Sizes are in tokens. */
export const Model = z.object({
  id: z.string(),
  name: z.string(),
  /** The wire format: `anthropic-messages`, `openai-responses`, `openai-completions`, `google-generative-ai`, … */
  api: z.string(),
  provider: z.string(),
  baseUrl: z.string(),
  reasoning: z.boolean(),
  input: z.array(z.enum(["text", "image"])),
  cost: ModelCost,
  contextWindow: z.number(),
  maxTokens: z.number(),
  headers: z.optional(z.record(z.string(), z.string())),
  /** Level → the vendor's value; `null` marks a level the model refuses. */
  thinkingLevelMap: z.optional(z.record(z.string(), z.nullable(z.string()))),
  /** Departures of an endpoint from its wire format. */
  compat: z.optional(z.record(z.string(), z.unknown())),
});
export type Model = z.infer<typeof Model>;
