import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import type { NativeProvider, OAuthTokens, ProviderStream } from "./native-provider.ts";

/** Key and headers of a model, or why there are none. */
export type ModelAuth =
  | {
      readonly ok: true;
      readonly apiKey?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly ok: false; readonly error: string };

/** The models that an extension can see, as of the last load or refresh. */
export interface ExtensionModels {
  find(provider: string, modelId: string): Model | undefined;
  getAll(): Model[];
  /** Models whose provider has a key. */
  getAvailable(): Model[];
  getError(): string | undefined;
  getProviderDisplayName(provider: string): string;
  hasConfiguredAuth(model: Model): boolean;
  isUsingOAuth(model: Model): boolean;
  getApiKey(model: Model): Promise<string | undefined>;
  getApiKeyForProvider(provider: string): Promise<string | undefined>;
  getApiKeyAndHeaders(model: Model): Promise<ModelAuth>;
  /** Requests one reply from a model with the host's key, headers and address. */
  complete(model: Model, context: unknown, options?: unknown): Promise<AssistantMessage>;
  /** A streaming reply: iterate it, or await `result()`. */
  stream(model: Model, context: unknown, options?: unknown): ReplyStream;
  streamSimple(model: Model, context: unknown, options?: unknown): ReplyStream;
  getProvider(id: string): ProviderView | undefined;
  /** The key and headers of a provider; undefined if it has none. */
  getProviderAuth(provider: string): Promise<
    | {
        readonly auth: {
          readonly apiKey?: string | undefined;
          readonly headers?: Readonly<Record<string, string>> | undefined;
        };
        readonly source: string;
      }
    | undefined
  >;
  getProviderAuthStatus(provider: string): {
    readonly configured: boolean;
    readonly source?: string | undefined;
  };
  /** Ids of the providers that extensions have registered. */
  getRegisteredProviderIds(): string[];
  findOfType(type: string, provider: string, modelId: string): Model | undefined;
  /** auth.json, as older hosts expose it. */
  readonly authStorage: object;
  registerProvider(name: string, config: ProviderConfig): void;
  registerProvider(provider: NativeProvider): void;
  unregisterProvider(name: string): void;
  refresh(): Promise<void>;
}

/** A streaming reply. */
interface ReplyStream extends AsyncIterable<AssistantMessageEvent> {
  result(): Promise<AssistantMessage>;
}

/** The visible properties of a provider. */
export interface ProviderView {
  readonly id: string;
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly auth?: { readonly apiKey?: unknown; readonly oauth?: unknown } | undefined;
  getModels(): readonly Partial<Model>[];
  readonly stream?: ProviderStream | undefined;
  readonly streamSimple: ProviderStream;
}

/** A model of a provider that an extension registers. */
interface ProviderModelConfig {
  readonly id: string;
  readonly name?: string | undefined;
  readonly api?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly reasoning?: boolean | undefined;
  readonly input?: readonly ("text" | "image")[] | undefined;
  readonly cost?: Partial<Model["cost"]> | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly compat?: Readonly<Record<string, unknown>> | undefined;
  readonly thinkingLevelMap?: Readonly<Record<string, string | null>> | undefined;
}

/** A provider that an extension registers: new, or changes to a known one. */
export interface ProviderConfig {
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** A key, the name of a variable, `$NAME`, or `!command`. */
  readonly apiKey?: string | undefined;
  readonly api?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly authHeader?: boolean | undefined;
  readonly models?: readonly ProviderModelConfig[] | undefined;
  /** Streams replies itself instead of using a built-in wire format. */
  readonly streamSimple?: ProviderStream | undefined;
  /** Logins in auth.json are renewed and used; only a terminal can log in. */
  readonly oauth?: ProviderOAuth | undefined;
}

/** How an extension's provider uses logins. */
export interface ProviderOAuth {
  readonly name?: string | undefined;
  readonly login?: unknown;
  refreshToken(credentials: OAuthTokens, signal?: AbortSignal): Promise<OAuthTokens>;
  /** The key to send; the access token by default. */
  getApiKey?(credentials: OAuthTokens): string;
  /** Changes the available models for a login. */
  modifyModels?(models: Model[], credentials: OAuthTokens): Model[];
}
