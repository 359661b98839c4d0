import type { Model } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, type Environment, SparseMap } from "@tau-agent/system";
import { hasGaps, requireAddress, withAddresses } from "./addresses.ts";
import type { KeyResolver } from "./auth/key-resolver.ts";
import { canonicalProvider } from "./auth/provider-aliases.ts";
import { stepForRefusedKey } from "./auth/refused-key.ts";
import type { ModelCatalog } from "./catalog.ts";
import type { CustomModels, CustomProvider } from "./custom-models.ts";
import type { Logins } from "./logins/logins.ts";
import type { ModelFacts } from "./refresh/model-facts.ts";

/** The parts of a request to a model besides its content. */
export interface RequestAuth {
  readonly apiKey: string | undefined;
  /** What to do if the key is refused. */
  readonly keyStep?: string | undefined;
  /** Resolved headers, which may contain secrets. Null suppresses a default header. */
  readonly headers: Readonly<Record<string, string | null>>;
  /** Values that must not appear in any error. */
  readonly secrets: readonly string[];
  /** Variables that define a cloud's endpoint and the credentials to use; they may contain secrets. */
  readonly environment: Environment;
  /** The `fetch` that uses the user's proxy; absent if there is none. */
  readonly fetch?: typeof globalThis.fetch;
  /** An address that replaces the model's because of a login. */
  readonly baseUrl?: string;
}

export interface ModelRegistryOptions {
  readonly catalog: ModelCatalog;
  readonly keys: KeyResolver;
  readonly logins?: Logins | undefined;
  /** Returns the `fetch` for requests; default: the global one. */
  readonly fetch?: (() => Promise<typeof globalThis.fetch | undefined>) | undefined;
  /** Reads the facts of the last refresh about a built-in provider's models. */
  readonly readFacts?: ((provider: string) => Promise<readonly ModelFacts[]>) | undefined;
  /** Which known models may be used; all by default. */
  readonly allows?: ((model: Pick<Model, "provider" | "id">) => boolean) | undefined;
  /** Reads models.json; called once, when first needed. */
  readonly loadCustomModels: () => Promise<CustomModels>;
}

/** All models: the built-in ones and the user's own, loaded per provider on demand. */
export class ModelRegistry {
  readonly keys: KeyResolver;
  /** The logins of vendors; undefined for a registry that is given none. */
  readonly logins: Logins | undefined;
  readonly #catalog: ModelCatalog;
  readonly #loadCustomModels: () => Promise<CustomModels>;
  readonly #fetch: ModelRegistryOptions["fetch"];
  readonly #allows: ModelRegistryOptions["allows"];
  readonly #readFacts: ModelRegistryOptions["readFacts"];
  readonly #added = new SparseMap<string, CustomProvider>();
  readonly #extra: Model[] = [];
  readonly #models = new Map<string, Promise<readonly Model[]>>();
  #custom: Promise<CustomModels> | undefined;

  constructor(options: ModelRegistryOptions) {
    this.keys = options.keys;
    this.logins = options.logins;
    this.#catalog = options.catalog;
    this.#loadCustomModels = options.loadCustomModels;
    this.#fetch = options.fetch;
    this.#allows = options.allows;
    this.#readFacts = options.readFacts;
  }

  /** Providers of models.json and those added, by id. */
  async customProviders(): Promise<ReadonlyMap<string, CustomProvider>> {
    const { providers } = await this.#readCustom();
    if (this.#added.size === 0 && this.#extra.length === 0) return providers;
    const known = this.#catalog.providers();
    const homeless = this.#extra
      .map(({ provider }) => provider)
      .filter((id) => !Object.hasOwn(known, id))
      .map((id) => [id, keylessProvider(id)] as const);
    return new Map([...homeless, ...providers, ...this.#added]);
  }

  /** The ignored parts of models.json, and why. */
  async diagnostics(): Promise<readonly Diagnostic[]> {
    return (await this.#readCustom()).diagnostics;
  }

  /** Adds a provider for this process, which overrides models.json. */
  addProvider(provider: CustomProvider): void {
    this.#added.set(provider.id, provider);
    this.#models.delete(provider.id);
  }

  /** Undoes {@link addProvider}. */
  removeProvider(id: string): void {
    this.#added.delete(id);
    this.#models.delete(id);
  }

  /** Adds a single model to a provider, which needs no key if it has no other models. */
  addModel(model: Model): void {
    this.removeModel(model.provider, model.id);
    this.#extra.push(model);
  }

  /** Undoes {@link addModel}. */
  removeModel(provider: string, id: string): void {
    const at = this.#extra.findIndex((model) => model.provider === provider && model.id === id);
    if (at !== -1) this.#extra.splice(at, 1);
    this.#models.delete(provider);
  }

  /** Requests the models of a provider again the next time, because the user's models there may have changed. */
  forgetModels(provider: string): void {
    this.#models.delete(provider);
  }

  /** Reads models.json again the next time it is needed. */
  reload(): void {
    this.#custom = undefined;
    this.#models.clear();
  }

  /** Ids of all providers, the user's own first. */
  async providers(): Promise<readonly string[]> {
    const custom = await this.customProviders();
    return [...new Set([...custom.keys(), ...Object.keys(this.#catalog.providers())])];
  }

  /** Ids of the providers that have a source of a key, and an address. */
  async availableProviders(): Promise<readonly string[]> {
    const providers = await this.providers();
    const [available, custom] = await Promise.all([
      this.keys.availableProviders(providers),
      this.customProviders(),
    ]);
    const unreachable = await this.#unreachable(providers);
    return providers.filter(
      (provider) => available.has(provider) && (custom.has(provider) || !unreachable.has(provider)),
    );
  }

  /** Whether a provider has only credentials that may be meant for something else. */
  hasOnlyCloudCredentials(provider: string): Promise<boolean> {
    return this.keys.hasOnlyCloudCredentials(provider);
  }

  /** Models of one provider; none when the provider is unknown. */
  models(named: string): Promise<readonly Model[]> {
    const provider = canonicalProvider(named);
    const known = this.#models.get(provider);
    if (known !== undefined) return known;
    const loading = this.#withExtra(provider).then((found) =>
      this.#allows === undefined ? found : found.filter(this.#allows),
    );
    this.#models.set(provider, loading);
    loading.catch(() => this.#models.delete(provider));
    return loading;
  }

  /** Every model of every provider. */
  async all(): Promise<readonly Model[]> {
    return this.#modelsOf(await this.providers());
  }

  /** Models whose provider has a source of a key. */
  async available(): Promise<readonly Model[]> {
    return this.#modelsOf(await this.availableProviders());
  }

  /** The model with exactly this provider and id. */
  async find(provider: string, id: string): Promise<Model | undefined> {
    return (await this.models(provider)).find((model) => model.id === id);
  }

  /** Why a model with this name may not be used; undefined if it may, or does not exist. */
  async whyDenied({
    provider,
    model: named = "",
  }: {
    readonly provider?: string | undefined;
    readonly model?: string | undefined;
  }): Promise<SessionError | undefined> {
    if (this.#allows === undefined) return undefined;
    const all = await Promise.all((await this.providers()).map((id) => this.#withExtra(id)));
    const wanted = [named, named.replace(/:[a-z]+$/, ""), `${provider}/${named}`];
    const left = all.flat().find((model) => {
      const isMeant = wanted.some((name) =>
        [model.id, `${model.provider}/${model.id}`].includes(name),
      );
      return isMeant && !this.#allows?.(model);
    });
    return left && modelDenied(left);
  }

  /**
   * Checks that a model object may be used.
   *
   * @throws {SessionError} `policy_denied`
   */
  requireModel(model: Model): void {
    if (this.#allows?.(model) === false) throw modelDenied(model);
  }

  /** The catalogue's models, with the addresses to which requests go. */
  async builtInModels(provider: string): Promise<readonly Model[]> {
    if (this.#factsOf(provider) === undefined) return [];
    const listed = await this.#catalog.models(provider);
    return withAddresses(listed, provider, () => this.keys.environmentOf(provider));
  }

  /** Ids of the catalogue's providers that have a key. */
  async refreshableProviders(): Promise<readonly string[]> {
    const available = await this.availableProviders();
    return available.filter((provider) => this.#factsOf(provider) !== undefined);
  }

  /** Why a known model cannot be used; undefined if there is no such model. */
  async whyNotOffered(provider: string, id: string): Promise<string | undefined> {
    return this.#catalog.whyNotOffered?.(provider, id);
  }

  /** Whether the model's provider has a source of a key. */
  async isAvailable(model: Model): Promise<boolean> {
    if ((await this.#unreachable([model.provider])).has(model.provider) && hasGaps(model))
      return false;
    if (this.keys.mayBeGiven) return true;
    return (await this.keys.availableProviders([model.provider])).has(model.provider);
  }

  /**
   * Key and headers for a request, resolved now.
   * @throws {SessionError} `no_key`, `key_unresolved`, `invalid_option` for an address
   */
  async requestAuth(model: Model): Promise<RequestAuth> {
    const { key, headers, baseUrl, source } = await this.keys.require(model.provider, model.id);
    const environment = await this.keys.environmentOf(model.provider);
    requireAddress(model, environment);
    const custom = (await this.customProviders()).get(model.provider);
    const owner = { provider: model.provider, path: "models.json" };
    const templates = Object.entries(custom?.headers(model.id) ?? {});
    const resolved = await Promise.all(
      templates.map(async ([name, raw]) => {
        return [name, raw === null ? null : await this.keys.resolveValue(raw, owner)] as const;
      }),
    );
    const keyHeader = this.#keyHeader(model.provider);
    const bearerHeader =
      keyHeader ?? (custom?.usesAuthHeader === true ? "Authorization" : undefined);
    const bearer =
      bearerHeader !== undefined && key !== undefined ? { [bearerHeader]: `Bearer ${key}` } : {};
    const fetch = await this.#fetch?.();
    const variable = this.keys.variableInUse(model.provider, environment);
    return {
      apiKey: keyHeader === undefined ? key : undefined,
      keyStep: stepForRefusedKey(model.provider, source, variable),
      headers: { ...bearer, ...Object.fromEntries(resolved), ...headers },
      secrets: secretsOf(key, source === "credentials" ? headers : undefined),
      environment,
      ...(fetch && { fetch }),
      ...(baseUrl !== undefined && (await this.#isBuiltInAddress(model)) && { baseUrl }),
    };
  }

  /** Whether an address is the catalogue's; an address that the user set overrides a login's. */
  async #isBuiltInAddress({ provider, baseUrl }: Model): Promise<boolean> {
    if (this.#factsOf(provider) === undefined) return false;
    const models = await this.#catalog.models(provider);
    return models.some((model) => model.baseUrl === baseUrl);
  }

  async #refreshed(provider: string): Promise<readonly Model[]> {
    const [models, facts = []] = await Promise.all([
      this.#catalog.models(provider),
      this.#readFacts?.(provider),
    ]);
    return facts.length === 0 ? models : (await loadFactMerger()).withFacts(models, facts);
  }

  #keyHeader(provider: string): string | undefined {
    return this.#factsOf(provider)?.keyHeader;
  }

  /** The built-in providers among these whose address has an unset part. */
  async #unreachable(providers: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const provider of providers) {
      const { needs = [] } = this.#factsOf(provider) ?? {};
      if (needs.length === 0) continue;
      const environment = await this.keys.environmentOf(provider).catch(() => undefined);
      if (needs.some((name) => !environment?.[name]?.trim())) found.add(provider);
    }
    return found;
  }

  #factsOf(provider: string): ReturnType<ModelCatalog["providers"]>[string] | undefined {
    const providers = this.#catalog.providers();
    return Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  }

  #readCustom(): Promise<CustomModels> {
    this.#custom ??= this.#loadCustomModels();
    return this.#custom;
  }

  async #modelsOf(providers: readonly string[]): Promise<readonly Model[]> {
    return (await Promise.all(providers.map((provider) => this.models(provider)))).flat();
  }

  async #withExtra(provider: string): Promise<readonly Model[]> {
    const models = await this.#load(provider);
    const extra = this.#extra.filter((model) => model.provider === provider);
    if (extra.length === 0) return models;
    const hidden = new Set(extra.map(({ id }) => id));
    return [...models.filter(({ id }) => !hidden.has(id)), ...extra];
  }

  async #load(provider: string): Promise<readonly Model[]> {
    const isBuiltIn = Object.hasOwn(this.#catalog.providers(), provider);
    const [listed, custom] = await Promise.all([
      isBuiltIn ? this.#refreshed(provider) : [],
      this.customProviders(),
    ]);
    const builtIn = await withAddresses(listed, provider, () => this.keys.environmentOf(provider));
    const own = custom.get(provider);
    if (own?.loadModels !== undefined) return own.loadModels(await this.keys.stored(provider));
    const models = own?.models(builtIn) ?? builtIn;
    const login = await this.keys.login(provider);
    if (login !== undefined && own?.modelsOfLogin) return own.modelsOfLogin(models, login);
    const ids = await this.logins?.modelsOf(provider, login);
    return ids === undefined ? models : models.filter(({ id }) => ids.includes(id));
  }
}

function modelDenied({ provider, id }: Model): SessionError {
  const reason = `by the host's policy, ${provider}/${id} is none of its models`;
  return new SessionError("policy_denied", { member: "models", reason });
}

function secretsOf(
  key: string | undefined,
  headers: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  return [key, ...Object.values(headers ?? {})].filter((secret) => secret !== undefined);
}

/** Most agent directories have no refreshed facts. */
const loadFactMerger = () => import("./refresh/model-facts.ts");

function keylessProvider(id: string): CustomProvider {
  return { id, isKeyless: true, usesAuthHeader: false, models: () => [], headers: () => ({}) };
}
