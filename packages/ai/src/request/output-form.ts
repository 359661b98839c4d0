import type { Model } from "@tau-agent/rpc-protocol/messages";

/**
 * Whether a model takes a schema for its reply, beside tools if there are any, without losing what is cached
 * of the conversation: OpenAI puts the schema before the instructions, Anthropic's form is part of what
 * caches and thinking are bound to. Others get a message. `compat.supportsOutputSchema` decides for
 * models of your own.
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
      // Older models refuse a schema beside tools.
      return /^gemini-[3-9]/.test(id) || (!hasTools && /^gemini-2/.test(id));
    default:
      return false;
  }
}
