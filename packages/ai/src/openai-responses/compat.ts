import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { AffinityCompat } from "../openai/affinity.ts";

/** How an endpoint differs from OpenAI's Responses format. */
export interface ResponsesCompat extends AffinityCompat {
  readonly supportsDeveloperRole: boolean;
  /** False if the model decides itself how much to think. */
  readonly supportsReasoningEffort: boolean;
  readonly supportsStrictMode: boolean;
  readonly supportsLongCacheRetention: boolean;
  readonly supportsMaxOutputTokens: boolean;
  readonly supportsPromptCacheKey: boolean;
  /** Whether the system prompt is a member of the request instead of the first input item. */
  readonly usesInstructions: boolean;
  /** Whether a later developer message replaces earlier instructions. */
  readonly supportsMidConvoSystemMessages: boolean;
  /** Whether a later item may change the effort. */
  readonly supportsMidConvoEffort: boolean;
  /** Whether a later item may add tools. */
  readonly supportsAdditionalTools: boolean;
}

const standard: ResponsesCompat = {
  supportsDeveloperRole: true,
  supportsReasoningEffort: true,
  supportsStrictMode: true,
  supportsLongCacheRetention: true,
  supportsMaxOutputTokens: true,
  supportsPromptCacheKey: true,
  usesInstructions: false,
  supportsMidConvoSystemMessages: false,
  supportsMidConvoEffort: false,
  supportsAdditionalTools: false,
  sendSessionAffinityHeaders: false,
  sessionAffinityFormat: "openai",
};

/** The deviations of the ChatGPT plan backend. */
const codex: Partial<ResponsesCompat> = {
  supportsLongCacheRetention: false,
  supportsMaxOutputTokens: false,
  usesInstructions: true,
};

const affinityFormats: readonly unknown[] = ["openai", "openai-nosession", "openrouter"];

/**
 * Determines the deviations of a model's endpoint from the model's flags. Flags for optional features that we
 * do not use (tool search, grammar tools) are not read.
 */
export function resolveResponsesCompat(model: Model): ResponsesCompat {
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(model.compat ?? {})) {
    const isValid =
      key === "sessionAffinityFormat"
        ? affinityFormats.includes(value)
        : typeof value === "boolean";
    if (key in standard && isValid) own[key] = value;
  }
  return { ...standard, ...(model.api === "openai-codex-responses" && codex), ...own };
}
