import type { NewTokens, OAuthCredential } from "../auth/store.ts";

/** How a user logs in: in a browser on this machine, with a code on any machine, or with a key. */
export type LoginMethod = "oauth" | "device" | "key";

/** A page that the user opens, and what they type in there. */
export interface LoginPage {
  readonly url: string;
  readonly userCode?: string | undefined;
}

/** What models.json may say about the login of a provider. */
export interface LoginOverrides {
  readonly clientId?: string | undefined;
  readonly scope?: string | undefined;
  /** The company's own host with GitHub Enterprise. */
  readonly domain?: string | undefined;
  /** Addresses that replace the vendor's, by name. */
  readonly endpoints?: Readonly<Record<string, string>> | undefined;
}

export interface LoginContext {
  /** A `fetch` that uses the user's proxy. */
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  readonly overrides: LoginOverrides;
}

export interface LoginAttempt extends LoginContext {
  /** Shows a page; rejects if the user refuses. */
  readonly open: (page: LoginPage) => Promise<void>;
}

/** The tokens of a new login, with the vendor's own members. */
export interface LoginTokens extends NewTokens {
  readonly refresh: string;
}

export interface LoginDefinition {
  /** The ways to log in, the one for a user at this machine first. */
  readonly methods: readonly Exclude<LoginMethod, "key">[];
  login(method: Exclude<LoginMethod, "key">, attempt: LoginAttempt): Promise<LoginTokens>;
  refresh(credential: OAuthCredential, context: LoginContext): Promise<NewTokens>;
  /** Headers of requests besides the token. */
  headersOf?(credential: OAuthCredential): Readonly<Record<string, string>>;
  baseUrlOf?(credential: OAuthCredential): string | undefined;
  /** The model ids of the user's plan; undefined if it does not list them. */
  modelsOf?(credential: OAuthCredential): readonly string[] | undefined;
}
