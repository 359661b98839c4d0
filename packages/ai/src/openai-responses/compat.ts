import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { AffinityCompat } from "../openai/affinity.ts";

/** How an endpoint differs from OpenAI's Responses format. */
export interface ResponsesCompat extends AffinityCompat {
  readonly supportsDeveloperRole: boolean;
  /** False: the model thinks as much as it likes. */
  readonly supportsReasoningEffort: boolean;
  readonly supportsStrictMode: boolean;
  readonly supportsLongCacheRetention: boolean;
  readonly supportsMaxOutputTokens: boolean;
  readonly supportsPromptCacheKey: boolean;
  /** The system prompt is a member of the request, not the first item of its input. */
  readonly usesInstructions: boolean;
  /** A developer message between the others replaces earlier instructions. */
  readonly supportsMidConvoSystemMessages: boolean;
  /** An item between the others may set another effort. */
  readonly supportsMidConvoEffort: boolean;
  /** An item between the others may add tools. */
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

/** How the backend of ChatGPT plans differs. */
const codex: Partial<ResponsesCompat> = {
  supportsLongCacheRetention: false,
  supportsMaxOutputTokens: false,
  usesInstructions: true,
};

const affinityFormats: readonly unknown[] = ["openai", "openai-nosession", "openrouter"];

/**
 * Finds out how a model's endpoint differs, from what the model says. Flags for optional features
 * we do not use (tool search, grammar tools) need no reading.
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
