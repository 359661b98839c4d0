import type { Model } from "@tau-agent/rpc-protocol/messages";

/** OpenAI's models from before the form, which refuse it. */
const olderOpenAi = /^(?:gpt-3|gpt-4$|gpt-4-|gpt-4o-2024-05-13|o1-mini|o1-preview)/;

/**
 * Whether a model takes a schema for its reply, beside tools if there are any. The others get a tool
 * for the answer. `compat.supportsOutputSchema` decides for models of your own.
 */
export function hasOutputForm(model: Model, hasTools: boolean): boolean {
  const { api, id, provider, compat = {} } = model;
  const { supportsOutputSchema } = compat;
  if (typeof supportsOutputSchema === "boolean" && api !== "anthropic-messages") {
    return supportsOutputSchema;
  }
  switch (api) {
    case "azure-openai-responses":
      return provider === "azure" && !olderOpenAi.test(id);
    case "openai-codex-responses":
      return provider === "openai-codex";
    case "openai-responses":
    case "openai-completions":
      return provider === "openai" && !olderOpenAi.test(id);
    case "google-generative-ai":
    case "google-vertex":
      // Older models refuse a schema beside tools.
      return /^gemini-[3-9]/.test(id) || (!hasTools && /^gemini-2/.test(id));
    default:
      // Anthropic's form is part of what thinking and caches are bound to, and takes closed objects
      // only; a tool can be appended (docs/decisions/0020).
      return false;
  }
}
