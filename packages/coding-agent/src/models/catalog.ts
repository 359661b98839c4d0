import type { Model } from "@tau-agent/rpc-protocol/messages";

/** What is known of a provider without its models. */
interface CatalogProvider {
  /** The variable that holds its key. */
  readonly apiKeyEnv?: string | undefined;
}

/** The built-in models, by provider; each provider's list is loaded on its own, when asked for. */
export interface ModelCatalog {
  providers(): Readonly<Record<string, CatalogProvider>>;
  models(provider: string): Promise<readonly Model[]>;
}
