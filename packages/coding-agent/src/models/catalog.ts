import type { Model } from "@tau-agent/rpc-protocol/messages";

/** The facts about a provider besides its models. */
interface CatalogProvider {
  /** The variable that holds its key. */
  readonly apiKeyEnv?: string | undefined;
}

/** The built-in models, by provider; each provider's list is loaded separately, on demand. */
export interface ModelCatalog {
  providers(): Readonly<Record<string, CatalogProvider>>;
  models(provider: string): Promise<readonly Model[]>;
}
