import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";
import { canonicalProvider } from "./auth/provider-aliases.ts";
import { defaultModels } from "./default-models.ts";
import { providerHint } from "./login-providers.ts";
import type { ModelRegistry } from "./registry.ts";
import { modelName, preferredModel, resolveModel, type ScopedModel } from "./resolver.ts";

export interface InitialModelInput {
  readonly registry: ModelRegistry;
  readonly flags?: { readonly provider?: string | undefined; readonly model?: string | undefined };
  readonly scope?: readonly ScopedModel[];
  readonly saved?: { readonly provider?: string | undefined; readonly model?: string | undefined };
  readonly resumed?: { readonly provider: string; readonly modelId: string } | undefined;
  /** Why a model with this name is missing, if more is known. */
  readonly whyMissing?: ((name: string) => string | undefined) | undefined;
}

export interface InitialModel {
  readonly model: Model | undefined;
  /** The level from the suffix of a pattern. */
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly source: "flag" | "session" | "scope" | "saved" | "available" | "none";
  readonly diagnostics: readonly Diagnostic[];
}

/** The saved default, with the provider's current id. */
function savedOf({ provider, model }: NonNullable<InitialModelInput["saved"]>) {
  return { provider: provider && canonicalProvider(provider), model };
}

/**
 * Chooses a session's first model: the flags, the resumed session, the scope, the saved default,
 * the first available. Loads only the catalogues it needs.
 *
 * @throws {SessionError} `model_not_found` or `model_ambiguous` for the flags; `invalid_option`.
 */
export async function selectInitialModel(input: InitialModelInput): Promise<InitialModel> {
  const { registry, flags: given = {} } = input;
  const saved = savedOf(input.saved ?? {});
  const flags = { ...given, provider: given.provider && canonicalProvider(given.provider) };
  if (flags.model !== undefined) {
    const { provider, model } = flags;
    const wanted = { model, provider, preferredProvider: saved.provider };
    return { ...(await resolveModel(registry, wanted)), source: "flag", diagnostics: [] };
  }
  if (flags.provider !== undefined) {
    const model = await firstOf(registry, flags.provider, saved);
    return { model, source: "flag", diagnostics: [] };
  }
  const missing: Missing[] = [];
  const chosen = await selectUnnamed({ ...input, saved }, missing);
  const { model } = chosen;
  const instead = model === undefined ? "no other one is" : `using ${modelName(model)}`;
  const diagnostics = missing.map(({ what, name }): Diagnostic => {
    const reason = input.whyMissing?.(name);
    const why = reason === undefined ? "" : `: ${reason}`;
    const message = `${what} ${name} is not available${why}; ${instead}`;
    return { severity: "warning", message };
  });
  return { ...chosen, diagnostics };
}

interface Missing {
  readonly what: string;
  readonly name: string;
}

/** The choice if the flags name no model; preferred models that are missing are added to `missing`. */
async function selectUnnamed(
  { registry, resumed, scope = [], saved = {} }: InitialModelInput,
  missing: Missing[],
): Promise<Omit<InitialModel, "diagnostics">> {
  if (resumed !== undefined) {
    const { provider, modelId } = resumed;
    const model = await usable(registry, provider, modelId);
    if (model !== undefined) return { model, source: "session" };
    missing.push({ what: "The session's model", name: `${provider}/${modelId}` });
  }
  const scoped = resumed === undefined ? await chooseScoped(registry, scope, saved) : undefined;
  if (scoped !== undefined) return { ...scoped, source: "scope" };
  if (saved.model !== undefined) {
    const found = await savedModel(registry, saved.provider, saved.model);
    if (found !== undefined) return { ...found, source: "saved" };
    const name = saved.provider === undefined ? saved.model : `${saved.provider}/${saved.model}`;
    missing.push({ what: "The default model", name });
  }
  const model = await firstAvailable(registry, saved.provider);
  return { model, source: model === undefined ? "none" : "available" };
}

/**
 * The saved default if it is in the scope, otherwise the scope's first model with a key. If none
 * has a key, the first model, whose error says what to set.
 */
async function chooseScoped(
  registry: ModelRegistry,
  scope: readonly ScopedModel[],
  saved: NonNullable<InitialModelInput["saved"]>,
): Promise<ScopedModel | undefined> {
  const available = new Set(scope.length > 1 ? await registry.availableProviders() : []);
  const usable = scope.filter(({ model }) => available.has(model.provider));
  const isSaved = ({ model: { provider, id } }: ScopedModel) =>
    id === saved.model && (saved.provider ?? provider) === provider;
  return usable.find(isSaved) ?? usable[0] ?? scope[0];
}

async function usable(registry: ModelRegistry, provider: string, id: string) {
  const model = await registry.find(provider, id);
  return model !== undefined && (await registry.isAvailable(model)) ? model : undefined;
}

async function savedModel(
  registry: ModelRegistry,
  provider: string | undefined,
  id: string,
): Promise<ScopedModel | undefined> {
  if (provider !== undefined) {
    const model = await usable(registry, provider, id);
    if (model !== undefined) return { model };
  }
  try {
    const found = await resolveModel(registry, { model: id, provider });
    return (await registry.isAvailable(found.model)) ? found : undefined;
  } catch (error) {
    if (error instanceof SessionError) return undefined;
    throw error;
  }
}

/** The model for a provider named without a model: its saved or its best one. */
async function firstOf(
  registry: ModelRegistry,
  provider: string,
  saved: NonNullable<InitialModelInput["saved"]>,
): Promise<Model> {
  if (saved.model !== undefined && saved.provider === provider) {
    const model = await registry.find(provider, saved.model);
    if (model !== undefined) return model;
  }
  const model = bestOf(provider, await registry.models(provider));
  if (model !== undefined) return model;
  const hint = providerHint(provider, await registry.providers());
  const reason = `there is no provider ${provider} with models${hint}`;
  throw new SessionError("invalid_option", { option: "provider", reason });
}

/**
 * The best model of the first available provider: the user's own providers come before the built-in
 * ones, which are in the order of the default list.
 */
async function firstAvailable(
  registry: ModelRegistry,
  savedProvider: string | undefined,
): Promise<Model | undefined> {
  const available = await registry.availableProviders();
  const custom = await registry.customProviders();
  const rank = (provider: string) => {
    if (provider === savedProvider) return -2;
    const at = Object.keys(defaultModels).indexOf(provider);
    if (at !== -1) return at;
    return custom.has(provider) ? -1 : Number.MAX_SAFE_INTEGER;
  };
  const ordered = [...available].sort((a, b) => rank(a) - rank(b));
  for (const provider of ordered) {
    // The credentials of a cloud's own tools must not select a provider that costs money.
    const isMeant = provider === savedProvider || custom.has(provider);
    if (!isMeant && (await registry.hasOnlyCloudCredentials(provider))) continue;
    const model = bestOf(provider, await registry.models(provider));
    if (model !== undefined) return model;
  }
  return undefined;
}

function bestOf(provider: string, models: readonly Model[]): Model | undefined {
  const isKnown = Object.hasOwn(defaultModels, provider);
  for (const id of (isKnown && defaultModels[provider]) || []) {
    const model = models.find((candidate) => candidate.id === id);
    if (model !== undefined) return model;
  }
  // The user's own list keeps the user's order.
  return isKnown ? preferredModel(models) : models[0];
}

/** The neighbour of `current` in `models`, wrapping around; `undefined` if there is no other. */
export function nextModel(
  models: readonly ScopedModel[],
  current: Pick<Model, "provider" | "id"> | undefined,
  direction: "forward" | "backward" = "forward",
): ScopedModel | undefined {
  const name = current === undefined ? undefined : modelName(current);
  const at = models.findIndex(({ model }) => modelName(model) === name);
  if (models.length === 0 || (models.length === 1 && at === 0)) return undefined;
  if (at === -1) return models[0];
  const step = direction === "forward" ? 1 : -1;
  return models[(at + step + models.length) % models.length];
}
