import { stat } from "node:fs/promises";
import type { Environment, ProcessRegistry } from "@tau-agent/system";
import { KeyResolver, type KeyResolverOptions } from "./auth/key-resolver.ts";
import { createCommandRunner } from "./auth/run-command.ts";
import { AuthStore } from "./auth/store.ts";
import type { ModelCatalog } from "./catalog.ts";
import { KeptModels } from "./kept-models.ts";
import { Logins } from "./logins/logins.ts";
import { factsFolder } from "./refresh/facts-folder.ts";
import { ModelRegistry, type ModelRegistryOptions } from "./registry.ts";

export interface ModelRegistryInput {
  readonly agentDirectory: string;
  readonly catalog: ModelCatalog;
  readonly environment: Environment;
  /** Default: the auth.json of `agentDirectory`. */
  readonly auth?: AuthStore;
  readonly credentials?: KeyResolverOptions["credentials"];
  readonly processes: ProcessRegistry;
  readonly fetch?: ModelRegistryOptions["fetch"];
  /** Which known models may be used; all by default. */
  readonly allows?: ModelRegistryOptions["allows"];
  /** The available wire formats; undefined if the program that embeds Tau sends requests itself. */
  readonly apis?: readonly string[] | undefined;
  /** The models shared by registries with the same catalogue. */
  readonly keptModels?: KeptModels | undefined;
}

/** Connects the model registry and the key resolver, which need each other. Reads nothing yet. */
export function createModelRegistry(input: ModelRegistryInput): ModelRegistry {
  const { agentDirectory, catalog, environment, credentials, processes, fetch, apis } = input;
  const { keptModels = new KeptModels() } = input;
  const isBuiltIn = (provider: string) => Object.hasOwn(catalog.providers(), provider);
  const store = input.auth ?? new AuthStore(agentDirectory);
  const logins = new Logins({
    store,
    fetch,
    overrides: async (provider) => (await registry.customProviders()).get(provider)?.loginOverrides,
  });
  const keys = new KeyResolver({
    environment,
    auth: store,
    credentials,
    logins: (provider) => logins.useOf(provider),
    customProviders: () => registry.customProviders(),
    variableNames: (provider) => {
      const providers = catalog.providers();
      const name = Object.hasOwn(providers, provider) ? providers[provider]?.apiKeyEnv : undefined;
      return name === undefined ? undefined : [name];
    },
    runCommand: createCommandRunner({ processes }),
  });
  const registry = new ModelRegistry({
    allows: input.allows,
    catalog,
    keys,
    logins,
    fetch,
    readFacts: async (provider) => {
      // Most agent directories have no models.json, and load only this check for it.
      const folder = await stat(factsFolder(agentDirectory)).catch(() => undefined);
      if (folder === undefined) return [];
      const { readFacts } = await import("./refresh/fact-files.ts");
      return readFacts(agentDirectory, provider, catalog.date ?? "");
    },
    loadCustomModels: () => keptModels.load(agentDirectory, { isBuiltIn, apis }),
  });
  return registry;
}
