/** The wire formats a loopback server speaks. */
export const loopbackApis = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "google-generative-ai",
  "azure-openai-responses",
  "openai-codex-responses",
  "bedrock-converse-stream",
  "google-vertex",
  "anthropic-vertex",
  "mistral-conversations",
] as const;

/** A wire format a loopback server speaks. */
export type LoopbackApi = (typeof loopbackApis)[number];
