import type { GivenCredentials } from "@tau-agent/rpc-protocol";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Environment, environmentKeys, SparseMap } from "@tau-agent/system";
import {
  cloudHint,
  isCloud,
  mayHaveCloudCredentials,
  namesCloudCredentials,
} from "./cloud-credentials.ts";
import { type CommandRunner, mayResolve, resolveConfigValue } from "./config-value.ts";
import { type KeptCredentials, placeOf } from "./kept-credentials.ts";
import type { ProviderKeyEntry, ProviderLogin, ResolvedKey } from "./key-types.ts";
import type { AuthStore, Credential, OAuthCredential, OAuthRefresh } from "./store.ts";

export interface KeyResolverOptions {
  readonly environment: Environment;
  readonly auth: AuthStore;
  readonly credentials?: KeptCredentials | undefined;
  /** Providers of models.json, by id; called on first use. */
  readonly customProviders?: () => Promise<ReadonlyMap<string, ProviderKeyEntry>>;
  /** Variable names of providers outside the built-in table. */
  readonly variableNames?: (provider: string) => readonly string[] | undefined;
  readonly runCommand: CommandRunner;
  /** The built-in logins; those of {@link customProviders} take precedence. */
  readonly logins?: ((provider: string) => Promise<ProviderLogin | undefined>) | undefined;
}

/** Where a key came from, if it can be replaced when the vendor refuses it. */
interface UsedLogin {
  /** The access token of a login. */
  token: string | undefined;
  /** The answer to the question for the key. */
  given?: GivenCredentials | undefined;
}

/**
 * Finds the key for a provider: the runtime override, keys requested from the embedder or client, auth.json,
 * models.json, the environment. If a request or an entry in auth.json fails, later sources are not used.
 */
export class KeyResolver {
  readonly #options: KeyResolverOptions;
  readonly #runCommand: CommandRunner;
  readonly #runtimeKeys = new SparseMap<string, string>();
  readonly #secrets = new Set<string>();
  /** Access tokens in use, by provider; none for providers whose key is not from a login. */
  readonly #tokens = new SparseMap<string, string>();
  /** Requested keys in use, by provider and model. */
  readonly #given = new SparseMap<string, GivenCredentials>();

  constructor(options: KeyResolverOptions) {
    this.#options = options;
    this.#runCommand = options.runCommand;
  }

  /** Sets a key for this process only, which overrides all others; `undefined` removes it. */
  setRuntimeKey(provider: string, key: string | undefined): void {
    if (key === undefined) this.#runtimeKeys.delete(provider);
    else this.#runtimeKeys.set(provider, key);
  }

  /** The variables that may hold the provider's key, strongest first. */
  variablesOf(provider: string): readonly string[] {
    // A provider may be called `constructor`: only own rows of the table count.
    const known = Object.hasOwn(environmentKeys, provider) ? environmentKeys[provider] : undefined;
    return known ?? this.#options.variableNames?.(provider) ?? [];
  }

  /**
   * The variable that holds the provider's key, even if a stronger source has one, too.
   *
   * @param environment - the variables for requests to the provider
   */
  variableInUse(provider: string, environment: Environment): string | undefined {
    return this.variablesOf(provider).find((name) => (environment[name]?.trim() ?? "") !== "");
  }

  get secrets(): ReadonlySet<string> {
    return this.#secrets;
  }

  async login(provider: string): Promise<OAuthCredential | undefined> {
    const credential = await this.stored(provider);
    return credential?.type === "oauth" ? credential : undefined;
  }

  get environment(): Environment {
    return this.#options.environment;
  }

  get store(): AuthStore {
    return this.#options.auth;
  }

  stored(provider: string): Promise<Credential | undefined> {
    return this.#options.auth.get(provider);
  }

  /**
   * The provider's key, or `undefined` when it has none.
   * @throws {SessionError} `key_unresolved` when a configured key cannot be read.
   */
  async resolve(provider: string, modelId?: string): Promise<ResolvedKey | undefined> {
    const found = await this.#find(provider, modelId);
    if (found?.key !== undefined) this.#secrets.add(found.key);
    if (found?.source === "credentials") {
      for (const value of Object.values(found.headers ?? {})) this.#secrets.add(value);
    }
    return found;
  }

  /**
   * The provider's key.
   * @throws {SessionError} `no_key` naming the provider and what to set; `key_unresolved`.
   */
  async require(provider: string, modelId?: string): Promise<ResolvedKey> {
    const found = await this.resolve(provider, modelId);
    if (found !== undefined) return found;
    this.#blameAuthFile(provider);
    throw new SessionError("no_key", { provider, hint: await this.#wayToKey(provider) });
  }

  /**
   * The variables for requests to a provider: those of the host, overridden by those beside its key in auth.json.
   * @throws {SessionError} `key_unresolved` when one of them cannot be read.
   */
  async environmentOf(provider: string): Promise<Environment> {
    const { environment, auth } = this.#options;
    const stored = await auth.get(provider);
    if (stored?.type !== "api_key" || stored.env === undefined) return environment;
    const owner = { provider, path: auth.path };
    const own = Object.entries(stored.env).map(
      async ([name, raw]) => [name, await this.resolveValue(String(raw), owner)] as const,
    );
    return { ...environment, ...Object.fromEntries(await Promise.all(own)) };
  }

  /** Whether a provider has only credentials that may be meant for something else. */
  async hasOnlyCloudCredentials(provider: string): Promise<boolean> {
    const { environment, auth, customProviders } = this.#options;
    if (!isCloud(provider) || this.#runtimeKeys.has(provider)) return false;
    const isNamed = this.variablesOf(provider).some((name) => (environment[name] ?? "") !== "");
    if (isNamed || (await auth.get(provider)) !== undefined) return false;
    return (await customProviders?.())?.has(provider) !== true;
  }

  /** Whether keys may be requested, whatever the provider. */
  get mayBeGiven(): boolean {
    return this.#options.credentials?.isOffered === true;
  }

  /** Whether a key, when last resolved, came from a source that can provide another one. */
  mayRenew(provider: string, modelId?: string): boolean {
    return this.#tokens.has(provider) || this.#given.has(placeOf(provider, modelId));
  }

  /**
   * Replaces a key that the vendor refused: with the answer to a new request, tokens that another
   * process has written meanwhile, or new tokens.
   *
   * @returns why there is no new key; undefined if there is one
   */
  async renewRefused(provider: string, modelId?: string): Promise<string | undefined> {
    const given = this.#given.get(placeOf(provider, modelId));
    if (given !== undefined) {
      const isNew = await this.#options.credentials?.renew(provider, modelId, given);
      return isNew
        ? undefined
        : `The key of ${provider} was refused, and credentials gave no other.`;
    }
    const login = `Run tau auth login ${provider}.`;
    try {
      if (await this.#renewTokens(provider)) return undefined;
      return `The login of ${provider} was refused. ${login}`;
    } catch (error) {
      return `The login of ${provider} was refused and could not be renewed: ${errorMessage(error)}. ${login}`;
    }
  }

  async #renewTokens(provider: string): Promise<boolean> {
    const refused = this.#tokens.get(provider);
    if (refused === undefined) return false;
    const { auth } = this.#options;
    const login = await this.#loginOf(provider);
    auth.reload();
    const tokens =
      login === undefined
        ? await this.login(provider)
        : await auth.freshTokens(provider, login.refresh, { refused });
    return tokens !== undefined && tokens.access !== refused;
  }

  /** Resolves a value of models.json (a header) in the same way as keys. */
  async resolveValue(raw: string, owner: { provider: string; path: string }): Promise<string> {
    const { environment } = this.#options;
    const result = await resolveConfigValue(raw, { environment, runCommand: this.#runCommand });
    if ("reason" in result) throw new SessionError("key_unresolved", { ...owner, ...result });
    // Do not redact a short literal, such as "My App" in a title header.
    if (result.value !== raw || raw.length >= 16) this.#secrets.add(result.value);
    return result.value;
  }

  /** Providers with any source of a key, found without loading catalogues or running commands. */
  async availableProviders(candidates: Iterable<string>): Promise<ReadonlySet<string>> {
    const { environment, auth, credentials, customProviders } = this.#options;
    const [stored, custom] = await Promise.all([auth.all(), customProviders?.()]);
    const isSet = (name: string) => (environment[name] ?? "") !== "";
    const hasKey = (
      credential: Credential | undefined,
      entry: ProviderKeyEntry | undefined,
      provider: string,
    ) => {
      if (credential?.type === "oauth") return true;
      if (isCloud(provider) && (credential !== undefined || entry !== undefined)) return true;
      if (namesCloudCredentials(provider, environment)) return true;
      const configured = credential?.key ?? entry?.apiKey;
      if (configured !== undefined) return mayResolve(configured, environment);
      return entry?.isKeyless === true || this.variablesOf(provider).some(isSet);
    };
    const available = new Set<string>();
    for (const provider of new Set([...candidates, ...(custom?.keys() ?? [])])) {
      const entry = custom?.get(provider);
      const has = () =>
        entry?.hasAuth?.(stored.get(provider)).catch(() => false) ??
        hasKey(stored.get(provider), entry, provider);
      const isGiven = this.#runtimeKeys.has(provider) || credentials?.has(provider) === true;
      if (isGiven || (await has())) available.add(provider);
    }
    return available;
  }

  /** What to set or to run to get a key. */
  async #wayToKey(provider: string): Promise<string> {
    const names = this.variablesOf(provider).filter((name) => !name.includes("OAUTH"));
    const cloud = cloudHint(provider);
    if (cloud !== undefined) return cloud;
    const variables = names.join(" or ");
    if ((await this.#options.logins?.(provider)) === undefined) {
      return variables || `apiKey of "${provider}" in models.json`;
    }
    const login = `tau auth login ${provider}`;
    return variables === "" ? `up a login with ${login}` : `${variables}, run ${login}`;
  }

  /** Reports an unreadable key with a different error than a missing one. */
  #blameAuthFile(provider: string): void {
    const { path, diagnostics } = this.#options.auth;
    const problem = diagnostics.find(
      ({ severity, message }) => severity === "error" || message.includes(`entry ${provider} `),
    );
    if (problem === undefined) return;
    throw new SessionError("key_unresolved", { provider, path, reason: problem.message });
  }

  async #find(provider: string, modelId: string | undefined): Promise<ResolvedKey | undefined> {
    const used: UsedLogin = { token: undefined };
    const found = await this.#lookUp(provider, modelId, used);
    // Set only now: concurrent questions about models must not see the login as missing.
    if (used.token === undefined) this.#tokens.delete(provider);
    else this.#tokens.set(provider, used.token);
    const place = placeOf(provider, modelId);
    if (used.given === undefined) this.#given.delete(place);
    else this.#given.set(place, used.given);
    return found;
  }

  async #lookUp(
    provider: string,
    modelId: string | undefined,
    used: UsedLogin,
  ): Promise<ResolvedKey | undefined> {
    const runtime = this.#runtimeKeys.get(provider);
    if (runtime !== undefined) return { key: runtime, source: "runtime" };
    used.given = await this.#options.credentials?.get(provider, modelId);
    if (used.given !== undefined) {
      const { apiKey, headers } = used.given;
      return { key: apiKey, source: "credentials", ...(headers && { headers }) };
    }
    const entry = (await this.#options.customProviders?.())?.get(provider);
    if (entry?.findAuth !== undefined) {
      const found = await entry.findAuth(await this.#storedFor(provider, entry, used));
      return found && { key: found.apiKey, source: "models_file", headers: found.headers };
    }
    const stored = await this.#findStored(provider, used);
    if (stored !== undefined) return stored;
    if (entry?.apiKey !== undefined) {
      const owner = { provider, path: "models.json" };
      return { key: await this.resolveValue(entry.apiKey, owner), source: "models_file" };
    }
    const environment = await this.environmentOf(provider);
    const variable = this.variableInUse(provider, environment);
    const key = variable && environment[variable]?.trim();
    if (key) return { key, source: "environment" };
    if (isCloud(provider) && mayHaveCloudCredentials(provider, environment)) {
      return { key: undefined, source: "cloud" };
    }
    return entry?.isKeyless === true ? { key: undefined, source: "none" } : undefined;
  }

  async #loginOf(provider: string): Promise<ProviderLogin | undefined> {
    const { customProviders, logins } = this.#options;
    return (await customProviders?.())?.get(provider)?.login ?? logins?.(provider);
  }

  /** A credential from auth.json, ready to use. */
  async #storedFor(
    provider: string,
    entry: ProviderKeyEntry,
    used: UsedLogin,
  ): Promise<Credential | undefined> {
    const { auth } = this.#options;
    const credential = await auth.get(provider);
    if (credential?.type === "oauth" && entry.login !== undefined) {
      const tokens = await this.#renew(provider, entry.login.refresh);
      used.token = tokens?.access;
      return tokens;
    }
    if (credential?.type !== "api_key") return credential;
    const owner = { provider, path: auth.path };
    return { ...credential, key: await this.resolveValue(credential.key, owner) };
  }

  async #findStored(provider: string, used: UsedLogin): Promise<ResolvedKey | undefined> {
    const { auth } = this.#options;
    const credential = await auth.get(provider);
    if (credential === undefined) return undefined;
    const owner = { provider, path: auth.path };
    if (credential.type === "api_key") {
      if (credential.key === "" && credential.env !== undefined) return undefined;
      return { key: await this.resolveValue(credential.key, owner), source: "auth_file" };
    }
    const login = await this.#loginOf(provider);
    const tokens = login === undefined ? credential : await this.#renew(provider, login.refresh);
    if (tokens !== undefined && tokens.expires > Date.now()) {
      used.token = tokens.access;
      return {
        key: login?.keyOf(tokens) ?? tokens.access,
        source: "login",
        ...(login?.headersOf && { headers: login.headersOf(tokens) }),
        ...(login?.baseUrlOf && { baseUrl: login.baseUrlOf(tokens) }),
      };
    }
    const reason = `the login has expired; ${wayOut(provider)}`;
    throw new SessionError("key_unresolved", { ...owner, reason });
  }

  /** A login that cannot be renewed is valid until it expires. */
  async #renew(provider: string, refresh: OAuthRefresh): Promise<OAuthCredential | undefined> {
    const { auth } = this.#options;
    try {
      return await auth.freshTokens(provider, refresh);
    } catch (error) {
      const known = await auth.get(provider);
      if (known?.type === "oauth" && known.expires > Date.now()) return known;
      const cause = error instanceof Error ? error.message : String(error);
      const reason = `the login has expired and could not be renewed: ${cause}; ${wayOut(provider)}`;
      throw new SessionError(
        "key_unresolved",
        { provider, path: auth.path, reason },
        { cause: error },
      );
    }
  }
}

function wayOut(provider: string): string {
  return provider === "anthropic"
    ? "Anthropic allows logins of Claude plans in its own tools only: run tau auth login anthropic --method key"
    : `run tau auth login ${provider}`;
}
