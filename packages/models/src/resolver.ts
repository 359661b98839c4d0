import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { isThinkingLevel, SessionError } from "@tau-agent/rpc-protocol/plain";
import { createGlob, type Diagnostic } from "@tau-agent/system";
import { canonicalProvider } from "./auth/provider-aliases.ts";
import { defaultModels } from "./default-models.ts";
import { providerHint } from "./login-providers.ts";
import { correctedName, nearMatches } from "./near-matches.ts";
import type { ModelRegistry } from "./registry.ts";

/** A model, with the thinking level from its pattern. */
export interface ScopedModel {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel;
}

export interface ModelPattern {
  /** `provider/id`, an id, or a part of either; `:<thinking>` may follow. */
  readonly model: string;
  /** Searches only this provider's models. */
  readonly provider?: string | undefined;
  /** Wins if a part of a name matches models of several providers. */
  readonly preferredProvider?: string | undefined;
}

type Registry = Pick<
  ModelRegistry,
  | "providers"
  | "availableProviders"
  | "hasOnlyCloudCredentials"
  | "models"
  | "diagnostics"
  | "whyNotOffered"
  | "whyDenied"
>;

/** Clouds that have models of other makers under the same names. */
const clouds: ReadonlySet<string> = new Set(["amazon-bedrock", "azure", "google-vertex"]);

export function modelName(model: Pick<Model, "provider" | "id">): string {
  return `${model.provider}/${model.id}`;
}

/** Splits a trailing thinking level off, from the right. */
function splitThinkingSuffix(
  pattern: string,
): { pattern: string; thinkingLevel: ThinkingLevel } | undefined {
  const colon = pattern.lastIndexOf(":");
  const level = pattern.slice(colon + 1).toLowerCase();
  if (colon <= 0 || !isThinkingLevel(level)) return undefined;
  return { pattern: pattern.slice(0, colon), thinkingLevel: level };
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** The model with exactly this id; case matters only if two ids differ in nothing else. */
function byId(models: readonly Model[], id: string): Model | undefined {
  return models.find((model) => model.id === id) ?? models.find((model) => same(model.id, id));
}

/** Ids that end with a date name one version; others are aliases whose version changes. */
function isDated(id: string): boolean {
  return /-(\d{8}|\d{4}-\d{2}-\d{2})$/.test(id);
}

/** Variants such as `:free` or `:batch` behave differently; they are used only if named explicitly. */
function isVariant(id: string): boolean {
  return id.includes(":") || id.startsWith("~");
}

/** `models` without those that `isLess`, unless nothing would be left. */
function without(models: readonly Model[], isLess: (id: string) => boolean): readonly Model[] {
  const rest = models.filter((model) => !isLess(model.id));
  return rest.length > 0 ? rest : models;
}

/** The single model that a part of a name means: aliases before dated ids, the highest first. */
export function preferredModel(models: readonly Model[]): Model | undefined {
  const candidates = without(without(models, isVariant), isDated);
  return [...candidates].sort((a, b) =>
    b.id.localeCompare(a.id, "en", { numeric: true, sensitivity: "base" }),
  )[0];
}

/** Searches for a model by patterns; loads only the necessary providers. */
class ModelSearch {
  readonly #registry: Registry;
  readonly #wanted: ModelPattern;
  constructor(registry: Registry, wanted: ModelPattern) {
    this.#registry = registry;
    const { provider } = wanted;
    this.#wanted = { ...wanted, provider: provider && canonicalProvider(provider) };
  }

  /** Exact names first, then parts of names. */
  async find(pattern: string): Promise<Model | undefined> {
    if (pattern === "") return undefined;
    const { provider } = this.#wanted;
    if (provider !== undefined) return this.#findWithin(provider, pattern);
    return (
      (await this.#exactPair(pattern)) ??
      (await this.#bareId(pattern)) ??
      (await this.#partOfPair(pattern)) ??
      this.#partOfName(pattern)
    );
  }

  async #findWithin(provider: string, pattern: string): Promise<Model | undefined> {
    const models = await this.#registry.models(provider);
    const prefix = `${provider}/`;
    const rest = same(pattern.slice(0, prefix.length), prefix)
      ? pattern.slice(prefix.length)
      : undefined;
    return (
      byId(models, pattern) ??
      (rest === undefined ? undefined : byId(models, rest)) ??
      preferredModel(matching(models, rest ?? pattern))
    );
  }

  /** The provider named before the first slash, and the rest. */
  async #pair(pattern: string): Promise<{ provider: string; rest: string } | undefined> {
    const slash = pattern.indexOf("/");
    if (slash <= 0) return undefined;
    const named = canonicalProvider(pattern.slice(0, slash));
    const provider = (await this.#registry.providers()).find((id) => same(id, named));
    const rest = pattern.slice(slash + 1);
    return provider === undefined || rest === "" ? undefined : { provider, rest };
  }

  async #exactPair(pattern: string): Promise<Model | undefined> {
    const pair = await this.#pair(pattern);
    return pair && byId(await this.#registry.models(pair.provider), pair.rest);
  }

  async #partOfPair(pattern: string): Promise<Model | undefined> {
    const pair = await this.#pair(pattern);
    return pair && preferredModel(matching(await this.#registry.models(pair.provider), pair.rest));
  }

  /**
   * One candidate per provider: providers with a key or, if none of them has a match, only the first of
   * the others, whose error says which key is missing.
   */
  async #candidates(choose: (models: readonly Model[]) => Model | undefined): Promise<Model[]> {
    for (const { providers, haveKeys } of await this.#byRank()) {
      const lists = await Promise.all(providers.map((id) => this.#registry.models(id)));
      const found = lists.map(choose).filter((model) => model !== undefined);
      if (found.length > 0) return haveKeys ? found : found.slice(0, 1);
    }
    return [];
  }

  /** Ranks providers: a cloud's own credentials may be meant for something else. */
  async #byRank(): Promise<{ providers: readonly string[]; haveKeys: boolean }[]> {
    const available = await this.#registry.availableProviders();
    const areUnsaid = await Promise.all(
      available.map((id) => this.#registry.hasOnlyCloudCredentials(id)),
    );
    const rest = (await this.#registry.providers()).filter((id) => !available.includes(id));
    return [
      { providers: available.filter((_, at) => !areUnsaid[at]), haveKeys: true },
      { providers: available.filter((_, at) => areUnsaid[at]), haveKeys: true },
      { providers: this.#byPreference(rest), haveKeys: false },
    ];
  }

  /** The preferred provider, makers of models, resellers, clouds. */
  #byPreference(providers: readonly string[]): readonly string[] {
    const order = Object.keys(defaultModels);
    const rank = (id: string) => {
      if (id === this.#wanted.preferredProvider) return -1;
      if (clouds.has(id)) return order.length + 1;
      return order.includes(id) ? order.indexOf(id) : order.length;
    };
    return [...providers].sort((a, b) => rank(a) - rank(b));
  }

  async #bareId(pattern: string): Promise<Model | undefined> {
    return this.#only(pattern, await this.#candidates((models) => byId(models, pattern)));
  }

  async #partOfName(pattern: string): Promise<Model | undefined> {
    return this.#only(
      pattern,
      await this.#candidates((models) => preferredModel(matching(models, pattern))),
    );
  }

  #only(pattern: string, candidates: readonly Model[]): Model | undefined {
    const { preferredProvider } = this.#wanted;
    const preferred = candidates.find((model) => model.provider === preferredProvider);
    if (preferred !== undefined) return preferred;
    // A maker's own model is preferred over the same model at a reseller (`anthropic/…`).
    const makers = candidates.map((model) => `${model.provider}/`.toLowerCase());
    const own = candidates.filter(
      ({ id }) => !makers.some((maker) => id.toLowerCase().startsWith(maker)),
    );
    const [first] = own;
    if (own.length <= 1) return first ?? candidates[0];
    const shown = own.slice(0, 6).map(modelName);
    if (own.length > shown.length) shown.push("…");
    throw new SessionError("model_ambiguous", { model: pattern, candidates: shown.join(", ") });
  }
}

function matching(models: readonly Model[], part: string): Model[] {
  const wanted = part.toLowerCase();
  return models.filter(
    ({ id, name }) => id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted),
  );
}

/** The error for a missing model, with similar names, or for one that the host's policy excludes. */
export async function modelNotFound(
  registry: Registry,
  wanted: ModelPattern,
): Promise<SessionError> {
  const denied = await registry.whyDenied(wanted);
  if (denied !== undefined) return denied;
  const hint = await notFoundHint(registry, wanted);
  // A part that was left out of models.json is the likeliest reason.
  const problems = (await registry.diagnostics()).map(({ message }) => message);
  const shown = problems.slice(0, 3).join("; ");
  const text = [hint, shown, problems.length > 3 ? "…" : ""].filter(Boolean).join(" ");
  return new SessionError("model_not_found", { model: text });
}

async function notFoundHint(registry: Registry, wanted: ModelPattern): Promise<string> {
  const { model, provider } = wanted;
  const providers = await registry.providers();
  const shown = provider === undefined ? model : `${provider}/${model}`;
  const [named = "", ...rest] = shown.split("/");
  const reason = await registry.whyNotOffered(named, rest.join("/"));
  if (reason !== undefined) return `${shown}. It is known, but cannot be used: ${reason}.`;
  if (provider !== undefined && !providers.includes(provider)) {
    return `${shown}. There is no provider ${provider}${providerHint(provider, providers)}`;
  }
  const searched = provider === undefined ? providers : [provider];
  const lists = await Promise.all(searched.map((id) => registry.models(id)));
  const models = lists.flat();
  const corrected = correctedName(
    model,
    models.map(({ id }) => id),
  );
  if (corrected !== undefined && matching(models, corrected).length > 0) {
    return `${shown}. Did you mean ${corrected}?`;
  }
  const near = nearMatches(shown, models.map(modelName));
  const hint =
    near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Add it to models.json to use it.";
  return `${shown}. ${hint}`;
}

/**
 * The model a user named. The whole text is tried before a thinking level is split off, because ids may contain
 * colons and slashes.
 * @throws {SessionError} `model_not_found` with similar names, `model_ambiguous` with the candidates.
 */
export async function resolveModel(registry: Registry, wanted: ModelPattern): Promise<ScopedModel> {
  const pattern = wanted.model.trim();
  const provider = wanted.provider?.trim();
  const known = (await registry.providers()).find((id) => provider && same(id, provider));
  const search = new ModelSearch(registry, { ...wanted, provider: known ?? provider });
  const whole = await search.find(pattern);
  if (whole !== undefined) return { model: whole };
  const split = splitThinkingSuffix(pattern);
  const model = split && (await search.find(split.pattern));
  if (split !== undefined && model !== undefined) {
    return { model, thinkingLevel: split.thinkingLevel };
  }
  throw await modelNotFound(registry, { ...wanted, model: pattern, provider: known ?? provider });
}

/** Models for cycling, and the patterns that match nothing. */
export interface ModelScope {
  readonly models: readonly ScopedModel[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Resolves the patterns of `--models`: names as for {@link resolveModel}, or globs (`* ? [`). */
export async function resolveModelScope(
  registry: Registry,
  patterns: readonly string[],
): Promise<ModelScope> {
  const found = new Map<string, ScopedModel>();
  const diagnostics: Diagnostic[] = [];
  for (const pattern of patterns.map((text) => text.trim()).filter((text) => text !== "")) {
    try {
      for (const scoped of await resolveScopePattern(registry, pattern)) {
        const name = modelName(scoped.model);
        if (!found.has(name)) found.set(name, scoped);
      }
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      diagnostics.push({ severity: "warning", message: error.message });
    }
  }
  return { models: [...found.values()], diagnostics };
}

async function resolveScopePattern(registry: Registry, pattern: string): Promise<ScopedModel[]> {
  if (!/[*?[]/.test(pattern)) return [await resolveModel(registry, { model: pattern })];
  // `openai/*` means that provider, not an aggregator whose ids start the same way.
  const prefix = pattern.slice(0, pattern.indexOf("/") + 1).slice(0, -1);
  const all = await registry.availableProviders();
  const named = all.filter((id) => same(id, prefix));
  const available = named.length > 0 ? named : all;
  const models = (await Promise.all(available.map((id) => registry.models(id)))).flat();
  // An id may contain brackets: a pattern that equals a name is not a glob.
  const literal = models.filter((model) => [model.id, modelName(model)].includes(pattern));
  if (literal.length > 0) return literal.map((model) => ({ model }));
  const whole = matchGlob(models, pattern);
  if (whole.length > 0) return whole.map((model) => ({ model }));
  const split = splitThinkingSuffix(pattern);
  const matched = split === undefined ? [] : matchGlob(models, split.pattern);
  if (split === undefined || matched.length === 0) {
    throw new SessionError("model_not_found", {
      model: `${pattern} (no model of a provider with a key matches)`,
    });
  }
  return matched.map((model) => ({ model, thinkingLevel: split.thinkingLevel }));
}

function matchGlob(models: readonly Model[], pattern: string): Model[] {
  const isMatch = createGlob(pattern);
  return models.filter((model) => isMatch(modelName(model)) || isMatch(model.id));
}
