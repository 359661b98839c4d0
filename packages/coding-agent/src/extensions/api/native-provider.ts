import type { Model } from "@tau-agent/rpc-protocol/messages";

/** Address, key and headers of a request. */
interface NativeAuth {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly baseUrl?: string | undefined;
}

/** What a provider can use to find a key. */
interface KeySearch {
  readonly ctx: {
    env(name: string): Promise<string | undefined>;
    fileExists(path: string): Promise<boolean>;
  };
  /** The provider's entry in auth.json. */
  readonly credential?: { readonly type: "api_key"; readonly key: string } | undefined;
  readonly signal: AbortSignal;
}

/** Tokens of a login; `expires` is epoch time in ms. */
export interface OAuthTokens {
  readonly access: string;
  readonly refresh: string;
  readonly expires: number;
  readonly [member: string]: unknown;
}

interface NativeLogin extends OAuthTokens {
  readonly type: "oauth";
}

/** How a native provider finds its keys and uses logins. */
export interface NativeProviderAuth {
  readonly apiKey?:
    | {
        readonly name?: string | undefined;
        /** A cheap check whether there is a key; without it, `resolve` is called. */
        check?(search: KeySearch): Promise<object | undefined>;
        resolve(
          search: KeySearch,
        ): Promise<{ readonly auth: NativeAuth; readonly source?: string | undefined } | undefined>;
      }
    | undefined;
  readonly oauth?:
    | {
        readonly name?: string | undefined;
        refresh(login: NativeLogin, signal: AbortSignal): Promise<NativeLogin>;
        toAuth(login: NativeLogin): Promise<NativeAuth>;
      }
    | undefined;
}

/** A provider that an extension defines completely, with newer hosts' `createProvider`. */
export interface NativeProvider {
  readonly id: string;
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  readonly auth?: NativeProviderAuth | undefined;
  getModels(): readonly (Pick<Model, "id"> & Partial<Model>)[];
  /** Fetches the list of models again; gives up after five seconds. */
  refreshModels?(context: object): Promise<void>;
  /** Filters the models for a credential. */
  filterModels?(
    models: ReturnType<NativeProvider["getModels"]>,
    credential: object | undefined,
  ): ReturnType<NativeProvider["getModels"]>;
  readonly stream?: ProviderStream | undefined;
  readonly streamSimple: ProviderStream;
}

/** Streams a reply as pi's stream events; the last event contains the message. */
export type ProviderStream = (
  model: Model,
  context: unknown,
  options?: Readonly<Record<string, unknown>>,
) => AsyncIterable<unknown>;
