import type { Credential, OAuthCredential, OAuthRefresh } from "./store.ts";

export type KeySource =
  | "runtime"
  | "credentials"
  | "auth_file"
  | "login"
  | "models_file"
  | "environment"
  | "cloud"
  | "none";

/** The key for a request; absent if the provider needs none, such as a server on this machine. */
export interface ResolvedKey {
  readonly key: string | undefined;
  readonly source: KeySource;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The address that a login sets for its requests. */
  readonly baseUrl?: string | undefined;
}

/** The key and headers of a provider that finds its keys itself. */
export interface FoundAuth {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** How the logins of a provider are used; each vendor differs. */
export interface ProviderLogin {
  readonly refresh: OAuthRefresh;
  /** The value that a request contains for the login. */
  readonly keyOf: (credential: OAuthCredential) => string;
  readonly headersOf?:
    | ((credential: OAuthCredential) => Readonly<Record<string, string>>)
    | undefined;
  /** The address for requests with the login, unless the user's files set another one. */
  readonly baseUrlOf?: ((credential: OAuthCredential) => string | undefined) | undefined;
}

/** The key settings of a provider in models.json or from an extension. */
export interface ProviderKeyEntry {
  /** The unresolved value. */
  readonly apiKey?: string | undefined;
  /** Whether the provider is on this machine and needs no key. */
  readonly isKeyless?: boolean | undefined;
  /** Set if users may log in instead of having a key. */
  readonly login?: ProviderLogin | undefined;
  /** Finds the key itself, given the entry in auth.json; undefined if there is none. */
  readonly findAuth?:
    | ((stored: Credential | undefined) => Promise<FoundAuth | undefined>)
    | undefined;
  /** Whether {@link ProviderKeyEntry.findAuth} would find a key. */
  readonly hasAuth?: ((stored: Credential | undefined) => Promise<boolean>) | undefined;
}
