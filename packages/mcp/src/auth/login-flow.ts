import type {
  AuthOptions,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import {
  type CallbackServer,
  listenForCallback,
  randomHex,
  unlessAborted,
} from "@tau-agent/system";
import { isSafeAddress } from "../config/read-oauth-entry.ts";
import { clientErrorKind } from "../connection/failures.ts";
import type { LoginTarget } from "../connection/open-server.ts";
import type { McpAuthStore } from "./auth-store.ts";
import { boundTo } from "./issuer.ts";
import { type Challenge, clientOf, discover, withTokens } from "./server-tokens.ts";

export interface LoginContext {
  readonly store: McpAuthStore;
  readonly challenge: Challenge | undefined;
  /** Shows the page to the user; rejects if they will not go there. */
  readonly open: (url: string) => Promise<void>;
  readonly timeoutMs: number;
}

/** Logs in to a server through the user's browser; the tokens are stored when it resolves. */
export async function logIn(target: LoginTarget, context: LoginContext): Promise<void> {
  const state = randomHex(32);
  const callback = await callbackFor(target, context, state);
  try {
    const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
    const stored = await context.store.load(target.server, target.url);
    const { challenge } = context;
    const provider = new LoginProvider(target, context.store, callback.redirectUrl, state);
    if (target.oauth.authServerMetadataUrl !== undefined) {
      provider.discovered = await discover(target, challenge?.resourceMetadataUrl);
    }
    // What was granted is asked for again: a login for one more scope must not lose the others.
    const granted = challenge?.scope === undefined ? undefined : stored?.tokens?.scope;
    const scope = computeScopeUnion(target.oauth.scope, granted, challenge?.scope);
    const options = {
      serverUrl: target.url,
      fetchFn: target.fetch,
      ...(scope === undefined ? {} : { scope }),
      ...(challenge?.resourceMetadataUrl === undefined
        ? {}
        : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    const isOlder = await beginLogin(provider, options);
    const page = provider.page;
    if (page === undefined) return;
    if (!isSafeAddress(page)) {
      throw new Error("the page of the login is neither https nor on this machine; it was refused");
    }
    const answer = await answerOf(callback, context, page);
    const iss = answer.get("iss");
    await auth(provider, {
      ...options,
      skipIssuerMetadataValidation: isOlder,
      authorizationCode: answer.get("code") ?? "",
      ...(iss === null ? {} : { iss }),
    });
  } finally {
    callback.close();
  }
}

/**
 * Finds the authorization server, and the page to show.
 *
 * @returns whether the server is of the time before servers named their authorization server
 */
async function beginLogin(provider: LoginProvider, options: AuthOptions): Promise<boolean> {
  const { auth, discoverOAuthProtectedResourceMetadata } = await import(
    "@modelcontextprotocol/client"
  );
  try {
    await auth(provider, { ...options, forceReauthorization: true });
    return false;
  } catch (error) {
    const { kind } = Object(error) as { kind?: unknown };
    if (clientErrorKind(error) !== "IssuerMismatchError" || kind !== "metadata") throw error;
    const { serverUrl, resourceMetadataUrl, fetchFn } = options;
    const isNamed = await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
      fetchFn,
    ).then(
      () => true,
      () => false,
    );
    if (isNamed) throw error;
    // Then it is the server itself that says it, and nobody else's word is believed.
    const skipped = { forceReauthorization: true, skipIssuerMetadataValidation: true };
    await auth(provider, { ...options, ...skipped });
    return true;
  }
}

async function answerOf(
  callback: CallbackServer,
  { open, timeoutMs }: LoginContext,
  page: string,
): Promise<URLSearchParams> {
  // The browser may be back before the client says that it has opened the page.
  const opened = open(page).then(() => callback.answer);
  const answer = await unlessAborted(
    Promise.race([callback.answer, opened]),
    AbortSignal.timeout(timeoutMs),
    () => new Error(`nobody logged in within ${timeoutMs / 1000} s`),
  );
  const error = answer.get("error");
  if (error !== null) {
    throw new Error(`the login was refused: ${answer.get("error_description") ?? error}`);
  }
  if (!answer.has("code")) throw new Error("the login page gave no code");
  return answer;
}

/** A client that was registered before can only come back to where it was registered for. */
async function callbackFor(
  { server, url, oauth }: LoginTarget,
  { store }: LoginContext,
  state: string,
): Promise<CallbackServer> {
  const options = { state, url: oauth.callbackUrl, port: oauth.callbackPort };
  const isFixed = options.port !== undefined || options.url !== undefined;
  const known = isFixed ? undefined : portOf((await store.load(server, url))?.clientInformation);
  if (known === undefined) return listenForCallback(options);
  return listenForCallback({ ...options, port: known }).catch(() => listenForCallback(options));
}

function portOf(client: StoredOAuthClientInformation | undefined): number | undefined {
  const redirect = redirectsOf(client)[0];
  return redirect !== undefined && URL.canParse(redirect)
    ? Number(new URL(redirect).port) || undefined
    : undefined;
}

function redirectsOf(client: StoredOAuthClientInformation | undefined): readonly string[] {
  const { redirect_uris: redirects } = Object(client) as { redirect_uris?: unknown };
  return Array.isArray(redirects) ? redirects.map(String) : [];
}

class LoginProvider implements OAuthClientProvider {
  readonly #target: LoginTarget;
  readonly #store: McpAuthStore;
  readonly #state: string;
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  discovered: OAuthDiscoveryState | undefined;
  page: string | undefined;
  #verifier = "";
  #client: StoredOAuthClientInformation | undefined;

  constructor(target: LoginTarget, store: McpAuthStore, redirectUrl: string, state: string) {
    this.#target = target;
    this.#store = store;
    this.#state = state;
    this.redirectUrl = redirectUrl;
    const { clientMetadataUrl, clientRegistration } = target.oauth;
    if (clientMetadataUrl !== undefined && clientRegistration !== "dcr") {
      this.clientMetadataUrl = clientMetadataUrl;
    }
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName = "Tau", clientSecret, scope } = this.#target.oauth;
    return {
      client_name: clientName,
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
      ...(scope === undefined ? {} : { scope }),
    };
  }

  state(): string {
    return this.#state;
  }

  async clientInformation(
    context?: OAuthClientInformationContext,
  ): Promise<StoredOAuthClientInformation | undefined> {
    const own = clientOf(this.#target.oauth);
    if (own !== undefined) return boundTo(own, context?.issuer);
    if (this.#client !== undefined) return this.#client;
    const stored = (await this.#load())?.clientInformation;
    const isUsable = redirectsOf(stored).includes(this.redirectUrl);
    return isUsable ? boundTo(stored, context?.issuer) : undefined;
  }

  async saveClientInformation(clientInformation: StoredOAuthClientInformation): Promise<void> {
    this.#client = clientInformation;
    await this.#change((state) => ({ ...state, clientInformation }));
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    return boundTo((await this.#load())?.tokens, context?.issuer);
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const { discovered } = this;
    await this.#change((state) => ({
      ...withTokens({ ...state, tokens: undefined }, tokens),
      ...(discovered === undefined ? {} : { discovery: discovered }),
    }));
  }

  redirectToAuthorization(url: URL): void {
    this.page = url.href;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(discovered: OAuthDiscoveryState): void {
    this.discovered = discovered;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovered;
  }

  #load() {
    return this.#store.load(this.#target.server, this.#target.url);
  }

  #change(edit: Parameters<McpAuthStore["change"]>[2]): Promise<void> {
    return this.#store.change(this.#target.server, this.#target.url, edit);
  }
}
