import type { Credential } from "@tau-agent/models";

export interface LoginSources {
  /** The content of auth.json at the last refresh of models. */
  readonly stored: () => ReadonlyMap<string, Credential>;
  readonly hasAuth: (provider: string) => boolean;
  readonly keyOf: (provider: string) => Promise<string | undefined>;
  readonly store: (provider: string, credential: Credential | undefined) => void;
  readonly reload: () => void;
}

/** auth.json in the form that pi before 0.80 showed to extensions on the model registry. */
export function storedLogins({ stored, hasAuth, keyOf, store, reload }: LoginSources) {
  return {
    get: (provider: string) => stored().get(provider),
    getAll: () => Object.fromEntries(stored()),
    list: () => [...stored().keys()],
    has: (provider: string) => stored().has(provider),
    hasAuth,
    getApiKey: keyOf,
    set: (provider: string, credential: Credential) => store(provider, credential),
    remove: (provider: string) => store(provider, undefined),
    logout: (provider: string) => store(provider, undefined),
    getOAuthProviders: () => [],
    drainErrors: () => [],
    reload,
  };
}
