import type { AssistantStream, Context, StreamFunction, StreamOptions } from "@tau-agent/ai";
import type { Credential, KeySource, ModelRegistry } from "@tau-agent/models";
import type { AssistantMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { reasonOf } from "../api/errors.ts";
import type { ExtensionModels, ModelAuth, ProviderView } from "../api/models.ts";
import { isNativeProvider, type RegisteredProvider, registrationOf } from "./provider-config.ts";
import { replyStream } from "./reply-stream.ts";
import { storedLogins } from "./stored-logins.ts";

/** The credentials for requests to a provider, in the form that pi's extensions read. */
interface ProviderAuth {
  readonly auth: { readonly apiKey?: string; readonly headers?: Readonly<Record<string, string>> };
  readonly source: KeySource;
}

export interface ModelsViewOptions {
  readonly registry: ModelRegistry;
  readonly stream: StreamFunction;
  readonly registerProvider: (name: string, provider: RegisteredProvider) => void;
  readonly registered: ReadonlyMap<string, RegisteredProvider>;
  readonly unregisterProvider: (name: string) => void;
}

/** The registry for extensions. Its lists are synchronous, so {@link ModelsView.refresh} reads them in advance. */
export class ModelsView implements ExtensionModels {
  readonly #options: ModelsViewOptions;
  #all: readonly Model[] = [];
  #available: ReadonlySet<string> = new Set();
  #stored: ReadonlyMap<string, Credential> = new Map();
  #error: string | undefined;

  constructor(options: ModelsViewOptions) {
    this.#options = options;
  }

  async refresh(): Promise<void> {
    const { registry } = this.#options;
    const [all, available, problems, stored] = await Promise.all([
      registry.all(),
      registry.availableProviders(),
      registry.diagnostics(),
      registry.keys.store.all(),
    ]);
    this.#all = all;
    this.#available = new Set(available);
    this.#stored = stored;
    this.#error = problems.map(({ message }) => message).join("\n") || undefined;
  }

  find(provider: string, modelId: string): Model | undefined {
    return this.#all.find((model) => model.provider === provider && model.id === modelId);
  }

  getAll(): Model[] {
    return [...this.#all];
  }

  getAvailable(): Model[] {
    return this.#all.filter((model) => this.#available.has(model.provider));
  }

  getError(): string | undefined {
    return this.#error;
  }

  getProviderDisplayName(provider: string): string {
    return this.#options.registered.get(provider)?.name ?? provider;
  }

  hasConfiguredAuth(model: Model): boolean {
    return this.#available.has(model.provider);
  }

  isUsingOAuth(model: Model): boolean {
    return this.#stored.get(model.provider)?.type === "oauth";
  }

  async getApiKey(model: Model): Promise<string | undefined> {
    return this.getApiKeyForProvider(model.provider);
  }

  async getApiKeyForProvider(provider: string): Promise<string | undefined> {
    return (await this.#options.registry.keys.resolve(provider))?.key;
  }

  async getApiKeyAndHeaders(model: Model): Promise<ModelAuth> {
    try {
      const { apiKey, headers } = await this.#options.registry.requestAuth(model);
      const sent: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) if (value !== null) sent[name] = value;
      return { ok: true, apiKey, headers: sent };
    } catch (error) {
      return { ok: false, error: reasonOf(error) };
    }
  }

  async complete(model: Model, context: unknown, options?: unknown): Promise<AssistantMessage> {
    const steps = await this.#open(model, context, options);
    for (;;) {
      const step = await steps.next();
      if (step.done) return step.value.message;
    }
  }

  stream(model: Model, context: unknown, options?: unknown) {
    return replyStream(model, () => this.#open(model, context, options));
  }

  streamSimple(model: Model, context: unknown, options?: unknown) {
    return this.stream(model, context, options);
  }

  async #open(model: Model, context: unknown, options: unknown): Promise<AssistantStream> {
    const { registry, stream } = this.#options;
    const { reasoning, ...given } = (options ?? {}) as Partial<StreamOptions> & {
      reasoning?: ThinkingLevel;
    };
    const auth = await registry.requestAuth(model);
    const headers = { ...auth.headers, ...given.headers };
    const level = reasoning === undefined ? {} : { thinkingLevel: reasoning };
    return stream(model, context as Context, { ...auth, ...level, ...given, headers });
  }

  getProvider(id: string): ProviderView | undefined {
    const registered = this.#options.registered.get(id);
    if (registered !== undefined && isNativeProvider(registered)) return registered;
    const getModels = () => this.#all.filter(({ provider }) => provider === id);
    const [first] = getModels();
    if (first === undefined && registered === undefined) return undefined;
    const name = this.getProviderDisplayName(id);
    const oauth = registered?.oauth ?? (this.#stored.get(id)?.type === "oauth" ? { name } : null);
    return {
      id,
      name,
      baseUrl: first?.baseUrl,
      auth: { apiKey: { name }, ...(oauth && { oauth }) },
      getModels,
      stream: (model, context, given) => this.stream(model, context, given),
      streamSimple: (model, context, given) => this.stream(model, context, given),
    };
  }

  async getProviderAuth(provider: string): Promise<ProviderAuth | undefined> {
    const found = await this.#options.registry.keys.resolve(provider);
    if (found === undefined) return undefined;
    const { key, headers, source } = found;
    const auth = { ...(key !== undefined && { apiKey: key }), ...(headers && { headers }) };
    return { auth, source };
  }

  getProviderAuthStatus(provider: string) {
    const configured = this.#available.has(provider);
    const source = this.#stored.has(provider) ? "stored" : "environment";
    return configured ? { configured, source } : { configured };
  }

  getRegisteredProviderIds(): string[] {
    return [...this.#options.registered.keys()];
  }

  /** Unlike other hosts, this one only has chat models. */
  findOfType(type: string, provider: string, modelId: string): Model | undefined {
    return type === "chat" ? this.find(provider, modelId) : undefined;
  }

  readonly authStorage = storedLogins({
    stored: () => this.#stored,
    hasAuth: (provider) => this.#available.has(provider),
    keyOf: (provider) => this.getApiKeyForProvider(provider),
    store: (provider, credential) => {
      const stored = new Map(this.#stored);
      if (credential === undefined) stored.delete(provider);
      else stored.set(provider, credential);
      this.#stored = stored;
      const { store } = this.#options.registry.keys;
      void store.set(provider, credential).then(
        () => this.refresh(),
        () => this.refresh(),
      );
    },
    reload: () => {
      this.#options.registry.keys.store.reload();
      void this.refresh().catch(() => {});
    },
  });

  /** Streams one reply with the host's key, headers and address, for requests of extensions. */
  async *openStream(model: Model, context: Context, options: StreamOptions): AssistantStream {
    const { registry, stream } = this.#options;
    const auth = await registry.requestAuth(model);
    const headers = { ...auth.headers, ...options.headers };
    return yield* stream(model, context, { ...options, ...auth, headers });
  }

  registerProvider(...given: Parameters<typeof registrationOf>): void {
    this.#options.registerProvider(...registrationOf(...given));
  }

  unregisterProvider(name: string): void {
    this.#options.unregisterProvider(name);
  }
}
