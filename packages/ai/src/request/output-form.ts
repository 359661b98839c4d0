import type { Model } from "@tau-agent/rpc-protocol/messages";

/**
 * Whether a model accepts a schema for its reply, alongside tools if there are any, without losing the cached
 * conversation: OpenAI puts the schema before the instructions, and Anthropic's caches and thinking depend on
 * it. Other models get a message instead. For custom models, `compat.supportsOutputSchema` decides.
 */
export function hasOutputForm(model: Model, hasTools: boolean): boolean {
  const { api, id, compat = {} } = model;
  const { supportsOutputSchema } = compat;
  if (typeof supportsOutputSchema === "boolean" && api !== "anthropic-messages") {
    return supportsOutputSchema;
  }
  switch (api) {
    case "google-generative-ai":
    case "google-vertex":
      // Older models refuse a schema together with tools.
      return /^gemini-[3-9]/.test(id) || (!hasTools && /^gemini-2/.test(id));
    default:
      return false;
  }
}
