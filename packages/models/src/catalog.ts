import {
  catalogSource,
  listProviders,
  loadModels,
  type ProviderInfo,
  whyNotOffered,
} from "@tau-agent/ai";
import type { Model } from "@tau-agent/rpc-protocol/messages";

/** The facts about a provider besides its models. */
type CatalogProvider = Omit<ProviderInfo, "id">;

/** The built-in models, by provider; each provider's list is loaded separately, on demand. */
export interface ModelCatalog {
  providers(): Readonly<Record<string, CatalogProvider>>;
  models(provider: string): Promise<readonly Model[]>;
  /**
   * The day on which the catalogue's facts were read, such as `2026-11-22`; refreshed facts may replace older ones.
   */
  readonly date?: string | undefined;
  /** Why a known model cannot be used; undefined if there is no such model. */
  whyNotOffered?(provider: string, id: string): Promise<string | undefined>;
}

/** Facts that never change, shared by all sessions of a host (rows `many-sessions`). */
const builtIn = Object.fromEntries(listProviders().map(({ id, ...info }) => [id, info]));

export function builtInCatalog(): ModelCatalog {
  const date = catalogSource
    .match(/\d{4}-\d\d-\d\d/g)
    ?.sort()
    .at(-1);
  return { providers: () => builtIn, models: loadModels, whyNotOffered, date };
}
