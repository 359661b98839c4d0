import type { Model } from "@tau-agent/rpc-protocol/messages";
import { KeyResolver } from "../auth/key-resolver.ts";
import { AuthStore } from "../auth/store.ts";
import { createCustomProvider } from "../custom-models.ts";
import type { ProviderEntry } from "../custom-schema.ts";
import { ModelRegistry } from "../registry.ts";

/** A model in which everything except its name is made up. */
export function fakeModel(provider: string, id: string, rest: Partial<Model> = {}): Model {
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl: `https://${provider}.invalid/v1`,
    reasoning: false,
    input: ["text"],
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1000,
    maxTokens: 100,
    ...rest,
  };
}

/** A registry over made-up lists; `loaded` collects the providers whose lists were requested. */
export function fakeRegistry(input: {
  lists: Readonly<Record<string, readonly string[]>>;
  available?: readonly string[];
  custom?: Readonly<Record<string, ProviderEntry>>;
  error?: string;
}): { registry: ModelRegistry; loaded: string[] } {
  const loaded: string[] = [];
  const { lists, available = Object.keys(lists), custom = {}, error } = input;
  const variable = (provider: string) => `KEY_OF_${provider}`;
  const keys: KeyResolver = new KeyResolver({
    environment: {
      ...Object.fromEntries(available.map((provider) => [variable(provider), "k"])),
      ...(available.includes("anthropic") ? { ANTHROPIC_API_KEY: "k" } : {}),
      ...(available.includes("openai") ? { OPENAI_API_KEY: "k" } : {}),
      ...(available.includes("openrouter") ? { OPENROUTER_API_KEY: "k" } : {}),
    },
    auth: new AuthStore("/nonexistent"),
    variableNames: (provider) => [variable(provider)],
    customProviders: () => registry.customProviders(),
    runCommand: () => Promise.reject(new Error("no command is run")),
  });
  const registry: ModelRegistry = new ModelRegistry({
    keys,
    catalog: {
      providers: () => Object.fromEntries(Object.keys(lists).map((id) => [id, {}])),
      models: async (provider) => {
        loaded.push(provider);
        return (lists[provider] ?? []).map((id) => fakeModel(provider, id));
      },
    },
    loadCustomModels: async () => ({
      diagnostics: error === undefined ? [] : [{ severity: "error", message: error }],
      providers: new Map(
        Object.entries(custom).map(([id, entry]) => [id, createCustomProvider(id, entry)]),
      ),
    }),
  });
  return { registry, loaded };
}
