import * as z from "zod/mini";
import { thinkingLevels } from "./constants.ts";

/** How much a model may think before it answers. */
export const ThinkingLevel = z.enum(thinkingLevels);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

const rates = {
  /** US dollars per million input tokens. */
  input: z.number(),
  /** US dollars per million output tokens. */
  output: z.number(),
  /** US dollars per million tokens read from the cache. */
  cacheRead: z.number(),
  /** US dollars per million tokens written to the cache. */
  cacheWrite: z.number(),
};

/** Prices in US dollars per million tokens; a tier replaces them for requests above its input size. */
export const ModelCost = z.object({
  ...rates,
  /** Different prices for larger requests. */
  tiers: z.optional(
    z.array(
      z.object({
        /** These prices apply to requests with more input tokens than this. */
        inputTokensAbove: z.number(),
        ...rates,
      }),
    ),
  ),
});
export type ModelCost = z.infer<typeof ModelCost>;

/** A model, where it is reached, what it can do and what it costs. Sizes are in tokens. */
export const Model = z.object({
  /** The id of the model at its provider. */
  id: z.string(),
  /** The display name. */
  name: z.string(),
  /** The wire format: `anthropic-messages`, `openai-responses`, `openai-completions`, `google-generative-ai`, … */
  api: z.string(),
  /** The model's provider. */
  provider: z.string(),
  /** The base URL of its API. */
  baseUrl: z.string(),
  /** Whether it supports reasoning. */
  reasoning: z.boolean(),
  /** The kinds of input it accepts. */
  input: z.array(z.enum(["text", "image"])),
  /** Prices in US dollars per million tokens. */
  cost: ModelCost,
  /** The size of the context window in tokens. */
  contextWindow: z.number(),
  /** The maximum length of a reply in tokens. */
  maxTokens: z.number(),
  /** HTTP headers sent with each request. */
  headers: z.optional(z.record(z.string(), z.string())),
  /** Level → the vendor's value; `null` marks a level the model refuses. */
  thinkingLevelMap: z.optional(z.record(z.string(), z.nullable(z.string()))),
  /** How the endpoint deviates from its wire format. */
  compat: z.optional(z.record(z.string(), z.unknown())),
});
export type Model = z.infer<typeof Model>;
