import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "./errors.ts";
import type { Provider } from "./provider.ts";

/**
 * Wire formats by `api`. A stream function loads each format once, when a request first needs it, so the
 * state that a provider keeps between requests belongs to that function.
 */
export type ProviderTable = Readonly<Record<string, () => Promise<Provider>>>;

/** The wire formats included in this package. */
export const builtInProviders: ProviderTable = {
  "anthropic-messages": async () =>
    (await import("./anthropic-messages/index.ts")).createAnthropicMessages(),
  "anthropic-vertex": async () =>
    (await import("./anthropic-vertex/index.ts")).createAnthropicVertex(),
  "azure-openai-responses": async () =>
    (await import("./azure-openai-responses/index.ts")).createAzureOpenaiResponses(),
  "bedrock-converse-stream": async () =>
    (await import("./bedrock-converse-stream/index.ts")).createBedrockConverseStream(),
  "google-generative-ai": async () =>
    (await import("./google-generative-ai/index.ts")).createGoogleGenerativeAi(),
  "openai-codex-responses": async () =>
    (await import("./openai-codex-responses/index.ts")).createOpenaiCodexResponses(),
  "google-vertex": async () => (await import("./google-vertex/index.ts")).createGoogleVertex(),
  "mistral-conversations": async () =>
    (await import("./mistral-conversations/index.ts")).createMistralConversations(),
  "openai-completions": async () =>
    (await import("./openai-completions/index.ts")).createOpenaiCompletions(),
  "openai-responses": async () =>
    (await import("./openai-responses/index.ts")).createOpenaiResponses(),
};

/** Loads each wire format once, so that it can keep state between requests. */
export class LoadedProviders {
  readonly #table: ProviderTable;
  readonly #loaded = new Map<string, Promise<Provider>>();

  constructor(table: ProviderTable) {
    this.#table = table;
  }

  async load({ api, provider, id }: Model): Promise<Provider> {
    const known = this.#loaded.get(api);
    if (known !== undefined) return known;
    const loader = Object.hasOwn(this.#table, api) ? this.#table[api] : undefined;
    if (loader === undefined) {
      const names = Object.keys(this.#table).join(", ");
      throw new ProviderError({
        code: "invalid_request",
        message: `Model ${provider}/${id} speaks ${api}, which is none of: ${names}`,
      });
    }
    const loading = loader();
    this.#loaded.set(api, loading);
    loading.catch(() => this.#loaded.delete(api));
    return loading;
  }
}
