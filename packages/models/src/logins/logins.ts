import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { ProviderLogin } from "../auth/key-types.ts";
import type { AuthStore, Credential, OAuthCredential } from "../auth/store.ts";
import { loginRowOf, loginRows } from "./definitions.ts";
import type {
  LoginContext,
  LoginDefinition,
  LoginMethod,
  LoginOverrides,
  LoginPage,
} from "./login-definition.ts";

export interface LoginsOptions {
  readonly store: AuthStore;
  /** Returns the `fetch` for requests; default: the global one. */
  readonly fetch?: (() => Promise<typeof globalThis.fetch | undefined>) | undefined;
  readonly overrides: (provider: string) => Promise<LoginOverrides | undefined>;
}

/** How a login is made. */
export interface LoginRequest {
  /** Default: the provider's first method, or a code first if `isRemote`. */
  readonly method?: LoginMethod | undefined;
  /** Whether the user's browser may be on another machine. */
  readonly isRemote?: boolean | undefined;
  /** Whether there is somebody to show a page to; default yes. */
  readonly mayOpen?: (() => boolean) | undefined;
  /** Shows a page; rejects if the user refuses. */
  readonly open: (page: LoginPage) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Longer than the lifetime of any vendor's code. */
const loginLimitMs = 20 * 60_000;
const browserLimitMs = 5 * 60_000;

/** The logins of vendors: how to get one, and how to use and renew the stored ones. */
export class Logins {
  readonly #options: LoginsOptions;

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /** The providers with built-in logins. */
  get ids(): readonly string[] {
    return Object.keys(loginRows);
  }

  /** How requests use a stored login of a provider; undefined if there is no built-in login. */
  async useOf(provider: string): Promise<ProviderLogin | undefined> {
    const row = loginRowOf(provider);
    if (row === undefined) return undefined;
    const definition = await row.load();
    return {
      refresh: async (credential, signal = new AbortController().signal) => {
        if (typeof credential.refresh !== "string" || credential.refresh === "") {
          throw new Error("the entry has no refresh token");
        }
        return definition.refresh(credential, await this.#context(provider, signal));
      },
      keyOf: ({ access }) => access,
      headersOf: definition.headersOf,
      baseUrlOf: definition.baseUrlOf,
    };
  }

  /** The model ids of a stored login; undefined if it does not list them. */
  async modelsOf(
    provider: string,
    stored: Credential | undefined,
  ): Promise<readonly string[] | undefined> {
    if (stored?.type !== "oauth") return undefined;
    return (await loginRowOf(provider)?.load())?.modelsOf?.(stored);
  }

  /** The ways to log in to a provider without a key. */
  async methodsOf(provider: string): Promise<LoginDefinition["methods"]> {
    return (await loginRowOf(provider)?.load())?.methods ?? [];
  }

  /** Whether a provider takes keys, too. */
  takesKey(provider: string): boolean {
    return loginRowOf(provider)?.takesKey !== false;
  }

  /** The name of a provider's login that users see. */
  nameOf(provider: string): string | undefined {
    return loginRowOf(provider)?.name;
  }

  /**
   * Logs in; resolves when the tokens are stored.
   *
   * @throws {SessionError} `login_unavailable`, `login_failed`
   */
  async login(provider: string, request: LoginRequest): Promise<OAuthCredential> {
    const method = await this.#methodFor(provider, request);
    const definition = await loginRowOf(provider)?.load();
    if (definition === undefined) throw withKey(provider, "it has no login");
    if (request.mayOpen?.() === false) {
      const reason = "no client answers open_url";
      throw new SessionError("login_unavailable", { provider, reason, words: " in a terminal" });
    }
    const limit = AbortSignal.timeout(method === "oauth" ? browserLimitMs : loginLimitMs);
    const signal = AbortSignal.any([limit, ...(request.signal ? [request.signal] : [])]);
    try {
      const context = await this.#context(provider, signal);
      const tokens = await definition.login(method, { ...context, open: request.open });
      const credential: OAuthCredential = { ...tokens, type: "oauth" };
      await this.#options.store.set(provider, credential);
      return credential;
    } catch (error) {
      if (error instanceof SessionError) throw error;
      const reason = limit.aborted ? "nobody logged in in time" : errorMessage(error);
      throw new SessionError("login_failed", { provider, reason }, { cause: error });
    }
  }

  /**
   * Stores a key literally, even if it looks like a command or a variable.
   *
   * @throws {SessionError} `login_failed` for text that cannot be a key
   */
  async storeKey(provider: string, given: string): Promise<void> {
    const key = given.trim();
    const reason = problemOf(key);
    if (reason !== undefined) throw new SessionError("login_failed", { provider, reason });
    await this.#options.store.update(provider, (current) => ({
      ...((Object(current) as { type?: unknown }).type === "api_key" ? Object(current) : {}),
      type: "api_key",
      key: literal(key),
    }));
  }

  /**
   * Deletes the stored credential of a provider.
   *
   * @returns whether there was one
   */
  async logout(provider: string): Promise<boolean> {
    const { store } = this.#options;
    let wasThere = false;
    await store.update(provider, (current) => {
      wasThere = current !== undefined;
      return undefined;
    });
    return wasThere;
  }

  /**
   * Deletes all logins. Stored keys stay, because users may not be able to enter them again.
   *
   * @throws {SessionError} `invalid_settings` when auth.json does not parse
   */
  async logoutAll(): Promise<void> {
    await this.#options.store.removeLogins();
  }

  async #methodFor(
    provider: string,
    { method, isRemote = false }: LoginRequest,
  ): Promise<Exclude<LoginMethod, "key">> {
    const methods = await this.methodsOf(provider);
    if (method === "key" || (methods.length === 0 && method === undefined)) {
      throw withKey(provider, "it takes a key");
    }
    if (method === undefined) {
      const [first = "device"] = methods;
      return isRemote && methods.includes("device") ? "device" : first;
    }
    if (methods.includes(method)) return method;
    if (provider === "anthropic") throw withKey(provider, anthropicReason);
    const reason = `it has no method ${method}`;
    const [first] = methods;
    throw first === undefined
      ? withKey(provider, reason)
      : new SessionError("login_unavailable", { provider, reason, words: ` --method ${first}` });
  }

  async #context(provider: string, signal: AbortSignal): Promise<LoginContext> {
    const { fetch, overrides } = this.#options;
    return {
      fetch: (await fetch?.()) ?? globalThis.fetch,
      overrides: (await overrides(provider)) ?? {},
      signal,
    };
  }
}

/** Why there is no login for Claude plans. */
const anthropicReason = "Anthropic allows logins of Claude plans in its own tools only";

function withKey(provider: string, reason: string): SessionError {
  return new SessionError("login_unavailable", { provider, reason, words: " --method key" });
}

function problemOf(key: string): string | undefined {
  if (key === "") return "the key is empty";
  if (key.length > 16_384) return "the key is longer than 16 384 characters";
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : "the key has spaces or characters that no header can carry";
}

/** Escapes a key: in auth.json `$` begins a variable, and `!` a command. */
function literal(key: string): string {
  const text = key.replaceAll("$", "$$$$");
  return text.startsWith("!") ? `$${text}` : text;
}
