import type { Model } from "@tau-agent/rpc-protocol/messages";
import { loadNotOffered, source, vendors } from "./generated/index.ts";
import { keyHeaderOf } from "./key-header.ts";

/** A vendor of the catalogue. */
export interface ProviderInfo {
  readonly id: string;
  /** The environment variable that usually holds its key. */
  readonly apiKeyEnv?: string | undefined;
  /** The environment variables from which its address is built. */
  readonly needs?: readonly string[] | undefined;
  /** The header for its key, sent as a bearer token, if it differs from the wire format's own. */
  readonly keyHeader?: string | undefined;
}

/** The source of the catalogue's data and the date of its retrieval. */
export const catalogSource: string = source;

/** The vendors of the catalogue, sorted by id; loads no models. */
export function listProviders(): ProviderInfo[] {
  return Object.entries(vendors).map(([id, { apiKeyEnv, needs }]) => {
    const keyHeader = keyHeaderOf(id);
    return {
      id,
      apiKeyEnv,
      ...(needs && { needs }),
      ...(keyHeader !== undefined && { keyHeader }),
    };
  });
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

/** Why a model of a vendor is not in the catalogue; undefined if unknown. */
export async function whyNotOffered(provider: string, id: string): Promise<string | undefined> {
  const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
    await loadNotOffered(),
  );
  const own = Object.hasOwn(reasons, provider) ? reasons[provider] : undefined;
  const name = own !== undefined && Object.hasOwn(own, id) ? id : "*";
  return own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
}

/** No validation: the generator has checked every model against its schema. */
function parseModels(json: string): Model[] {
  return JSON.parse(json);
}
