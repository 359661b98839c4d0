import type { Provider } from "./provider.ts";

/** Wire formats by `api`; each is loaded when a request first needs it. */
export type ProviderTable = Readonly<Record<string, () => Promise<Provider>>>;

/** The wire formats that come with this package. */
export const builtInProviders: ProviderTable = {
  "anthropic-messages": async () =>
    (await import("./anthropic-messages/index.ts")).anthropicMessages,
  "google-generative-ai": async () =>
    (await import("./google-generative-ai/index.ts")).googleGenerativeAi,
  "openai-completions": async () =>
    (await import("./openai-completions/index.ts")).openaiCompletions,
  "openai-responses": async () => (await import("./openai-responses/index.ts")).openaiResponses,
};
