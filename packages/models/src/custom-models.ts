import { join } from "node:path";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { commonStart, type Diagnostic, isLoopback, readJsonFile } from "@tau-agent/system";
import type { ProviderKeyEntry } from "./auth/key-types.ts";
import { canonicalProvider } from "./auth/provider-aliases.ts";
import type { Credential, OAuthCredential } from "./auth/store.ts";
import {
  type KnownModels,
  type ModelEntry,
  type ModelOverride,
  type ProviderEntry,
  parseModelsFile,
} from "./custom-schema.ts";
import type { LoginOverrides } from "./logins/login-definition.ts";

/** Header values as configured: unresolved, and not part of the model, so that the model contains no secrets. */
type HeaderTemplates = Readonly<Record<string, string | null>>;

/** A provider described by models.json, an extension or a probe of local servers. */
export interface CustomProvider extends ProviderKeyEntry {
  readonly id: string;
  /** Adds `Authorization: Bearer <key>`. */
  readonly usesAuthHeader: boolean;
  /** The provider's list: its own models over `builtIn`, with overrides applied. */
  models(builtIn: readonly Model[]): readonly Model[];
  /** The same for logged-in users. */
  readonly modelsOfLogin?:
    | ((models: readonly Model[], credential: OAuthCredential) => readonly Model[])
    | undefined;
  /** The provider's list if finding it takes time; takes precedence over {@link CustomProvider.models}. */
  readonly loadModels?:
    | ((credential: Credential | undefined) => Promise<readonly Model[]>)
    | undefined;
  /** Differences from the built-in login. */
  readonly loginOverrides?: LoginOverrides | undefined;
  /** The name that users see. */
  readonly name?: string | undefined;
  /** Header templates of one model: the model's over the provider's. */
  headers(modelId: string): HeaderTemplates;
}

export interface CustomModels {
  readonly providers: ReadonlyMap<string, CustomProvider>;
  /** The ignored parts of the file, with reasons; the rest is used. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads `<agentDirectory>/models.json`. Never rejects; invalid parts count as absent. */
export async function loadCustomModels(
  agentDirectory: string,
  { isBuiltIn, apis }: KnownModels = {},
): Promise<CustomModels> {
  const path = join(agentDirectory, "models.json");
  const file = await readJsonFile(path);
  if (file.kind === "missing") return { providers: new Map(), diagnostics: [] };
  if (file.kind === "unreadable") return { providers: new Map(), diagnostics: [file.diagnostic] };
  const { providers, problems, ignored } = parseModelsFile(file.value, {
    isBuiltIn: isBuiltIn && ((id) => isBuiltIn(canonicalProvider(id))),
    apis,
  });
  const entries = Object.entries(providers);
  return {
    providers: new Map(
      entries.map(([name, entry]) => {
        const id = canonicalProvider(name);
        return [id, createCustomProvider(id, providers[id] ?? entry)];
      }),
    ),
    diagnostics: [...problems, ...ignored].map(({ subject, isOfAll, reason }) => {
      const effect = subject === undefined ? reason : `${subject} is left out: ${reason}`;
      return {
        severity: isOfAll === true ? "error" : "warning",
        message: `${path}: ${effect}`,
        ...{ path, member: reason.split(":", 1)[0] ?? "", reason },
      };
    }),
  };
}

/** Creates a provider from an entry in the form of models.json. */
export function createCustomProvider(id: string, entry: ProviderEntry): CustomProvider {
  const own = new Map((entry.models ?? []).map((model) => [model.id, model]));
  const overrides = new Map(Object.entries(entry.modelOverrides ?? {}));
  return {
    id,
    ...(entry.name !== undefined && { name: entry.name }),
    ...(entry.login !== undefined && { loginOverrides: entry.login }),
    apiKey: entry.apiKey,
    isKeyless: entry.apiKey === undefined && isLocalUrl(entry.baseUrl),
    usesAuthHeader: entry.authHeader === true,
    models: (builtIn) => {
      const kept = builtIn
        .filter((model) => !own.has(model.id))
        .map((model) => applyProvider(model, entry));
      const added = [...own.values()].map((model) => createModel(id, model, { entry, builtIn }));
      return [...kept, ...added].map((model) => applyOverride(model, overrides.get(model.id)));
    },
    headers: (modelId) => ({
      ...entry.headers,
      ...own.get(modelId)?.headers,
      ...overrides.get(modelId)?.headers,
    }),
  };
}

export function isLocalUrl(url: string | undefined): boolean {
  const parsed = url === undefined ? null : URL.parse(url);
  return parsed !== null && isLoopback(parsed.hostname);
}

/** Uses the address and format of the built-in models if neither model nor provider sets them. */
function createModel(
  provider: string,
  entry: ModelEntry,
  { entry: parent, builtIn }: { entry: ProviderEntry; builtIn: readonly Model[] },
): Model {
  const { thinkingLevelMap } = entry;
  const like = mostAlike(builtIn, entry.id, entry.api ?? parent.api);
  const compat = { ...parent.compat, ...entry.compat };
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, tiers } = entry.cost ?? {};
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    api: entry.api ?? parent.api ?? like?.api ?? "",
    provider,
    baseUrl: entry.baseUrl ?? parent.baseUrl ?? like?.baseUrl ?? "",
    reasoning: entry.reasoning ?? false,
    input: entry.input ?? ["text"],
    cost: { input, output, cacheRead, cacheWrite, ...(tiers === undefined ? {} : { tiers }) },
    contextWindow: entry.contextWindow ?? 128_000,
    maxTokens: entry.maxTokens ?? 16_384,
    ...(thinkingLevelMap === undefined ? {} : { thinkingLevelMap }),
    ...(Object.keys(compat).length === 0 ? {} : { compat }),
  };
}

/** The model with the longest common prefix of ids, among those that use `api`, or among all if none does. */
function mostAlike(
  models: readonly Model[],
  id: string,
  api: string | undefined,
): Model | undefined {
  const speaking = models.filter((model) => model.api === api);
  const [first, ...rest] = speaking.length > 0 ? speaking : models;
  if (first === undefined) return undefined;
  return rest.reduce(
    (best, model) => (commonStart(model.id, id) > commonStart(best.id, id) ? model : best),
    first,
  );
}

/** A built-in model reached through the user's endpoint. */
function applyProvider(model: Model, entry: ProviderEntry): Model {
  return {
    ...model,
    ...(entry.baseUrl === undefined ? {} : { baseUrl: entry.baseUrl }),
    ...(entry.api === undefined ? {} : { api: entry.api }),
    ...(entry.compat === undefined ? {} : { compat: { ...model.compat, ...entry.compat } }),
  };
}

/** `model` with the members of an override; cost and compat are merged per member. */
function applyOverride(model: Model, override: ModelOverride | undefined): Model {
  if (override === undefined) return model;
  const { name, api, baseUrl, reasoning, input, contextWindow, maxTokens } = override;
  const { cost, compat, thinkingLevelMap } = override;
  const given = { name, api, baseUrl, reasoning, input, contextWindow, maxTokens };
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  const merged: Model = { ...model, ...Object.fromEntries(present) };
  if (cost !== undefined) merged.cost = { ...model.cost, ...definedRates(cost) };
  if (compat !== undefined) merged.compat = { ...model.compat, ...compat };
  if (thinkingLevelMap !== undefined) {
    merged.thinkingLevelMap = { ...model.thinkingLevelMap, ...thinkingLevelMap };
  }
  return merged;
}

function definedRates(cost: NonNullable<ModelOverride["cost"]>): Partial<Model["cost"]> {
  return Object.fromEntries(Object.entries(cost).filter(([, value]) => value !== undefined));
}
