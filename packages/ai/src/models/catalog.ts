import type { Model } from "@tau-agent/rpc-protocol/messages";
import { source, vendors } from "./generated/index.ts";

/** A vendor of the catalogue. */
export interface ProviderInfo {
  readonly id: string;
  /** The environment variable that usually holds its key. */
  readonly apiKeyEnv?: string | undefined;
}

/** Where the catalogue's facts come from and when they were read. */
export const catalogSource: string = source;

/** The vendors of the catalogue, sorted by id; loads no models. */
export function listProviders(): ProviderInfo[] {
  return Object.entries(vendors).map(([id, { apiKeyEnv }]) => ({ id, apiKeyEnv }));
}

/** Loads the models of one vendor; empty for a vendor that is not in the catalogue. */
export async function loadModels(provider: string): Promise<Model[]> {
  const vendor = Object.hasOwn(vendors, provider) ? vendors[provider] : undefined;
  return vendor === undefined ? [] : parseModels(await vendor.load());
}

/** Loads one model of the catalogue by its vendor and exact id. */
export async function findModel(provider: string, id: string): Promise<Model | undefined> {
  return (await loadModels(provider)).find((model) => model.id === id);
}

/** The generator has checked every model against its schema. */
function parseModels(json: string): Model[] {
  return JSON.parse(json);
}
