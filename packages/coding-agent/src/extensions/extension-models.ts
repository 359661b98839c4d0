import type { AssistantStream, Context, StreamFunction, StreamOptions } from "@tau-agent/ai";
import type { AssistantMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { ModelRegistry } from "../models/registry.ts";
import type { ExtensionModels, ModelAuth, ProviderConfig } from "./api/models.ts";
import { reasonOf } from "./errors.ts";

/** What {@link ModelsView} works with. */
export interface ModelsViewOptions {
  readonly registry: ModelRegistry;
  readonly stream: StreamFunction;
  readonly registerProvider: (name: string, config: ProviderConfig) => void;
  readonly unregisterProvider: (name: string) => void;
}

/**
 * The registry as extensions know it: its lists are there at once, so they are read ahead by
 * {@link ModelsView.refresh}.
 */
export class ModelsView implements ExtensionModels {
  readonly #options: ModelsViewOptions;
  #all: readonly Model[] = [];
  #available: ReadonlySet<string> = new Set();
  #loggedIn: ReadonlySet<string> = new Set();
  #error: string | undefined;

  constructor(options: ModelsViewOptions) {
    this.#options = options;
  }

  async refresh(): Promise<void> {
    const { registry } = this.#options;
    const [all, available, error] = await Promise.all([
      registry.all(),
      registry.availableProviders(),
      registry.error(),
    ]);
    this.#all = all;
    this.#available = new Set(available);
    const logins = await Promise.all(available.map((provider) => registry.keys.login(provider)));
    this.#loggedIn = new Set(available.filter((_, index) => logins[index] !== undefined));
    this.#error = error?.message;
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
    return provider;
  }

  hasConfiguredAuth(model: Model): boolean {
    return this.#available.has(model.provider);
  }

  isUsingOAuth(model: Model): boolean {
    return this.#loggedIn.has(model.provider);
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
      return { ok: true, apiKey, headers };
    } catch (error) {
      return { ok: false, error: reasonOf(error) };
    }
  }

  async complete(model: Model, context: unknown, options: unknown = {}): Promise<AssistantMessage> {
    const { registry, stream } = this.#options;
    const { reasoning, ...given } = (options ?? {}) as Partial<StreamOptions> & {
      reasoning?: ThinkingLevel;
    };
    const auth = await registry.requestAuth(model);
    const headers = { ...auth.headers, ...given.headers };
    const level = reasoning === undefined ? {} : { thinkingLevel: reasoning };
    const steps = stream(model, context as Context, { ...auth, ...level, ...given, headers });
    for (;;) {
      const step = await steps.next();
      if (step.done) return step.value.message;
    }
  }

  /** One reply as it comes, with the host's key, headers and address; for sessions of extensions. */
  async *openStream(model: Model, context: Context, options: StreamOptions): AssistantStream {
    const { registry, stream } = this.#options;
    const auth = await registry.requestAuth(model);
    const headers = { ...auth.headers, ...options.headers };
    return yield* stream(model, context, { ...options, ...auth, headers });
  }

  registerProvider(name: string, config: ProviderConfig): void {
    this.#options.registerProvider(name, config);
  }

  unregisterProvider(name: string): void {
    this.#options.unregisterProvider(name);
  }
}
