import type {
  AuthOptions,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
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
  /** Shows the page to the user; rejects if the user refuses. */
  readonly open: (url: string) => Promise<void>;
  readonly timeoutMs: number;
}

/** Logs in to a server in the user's browser; resolves once the tokens are stored. */
export async function logIn(target: LoginTarget, context: LoginContext): Promise<void> {
  const state = randomHex(32);
  const callback = await callbackFor(target, context, state);
  try {
    const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
    const stored = await context.store.load(target.server, target.url);
    const { challenge } = context;
    const provider = loginProvider(target, context.store, callback.redirectUrl, state);
    if (target.oauth.authServerMetadataUrl !== undefined) {
      provider.found.discovered = await discover(target, challenge?.resourceMetadataUrl);
    }
    // Requests the granted scopes again: a login for one more scope must not lose the others.
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
    const { page } = provider.found;
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
 * @returns whether the server is too old to name its authorization server
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
    // Then the metadata is the server's own, and no third party's claim is trusted.
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
  // The browser may return before the client reports that it has opened the page.
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

/** A client that is already registered can only use the redirect address of its registration. */
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

/** The client provider for the SDK, with the data that it discovers on the way. */
type LoginProvider = OAuthClientProvider & {
  readonly found: { discovered?: OAuthDiscoveryState | undefined; page?: string };
};

function loginProvider(
  { server, url, oauth }: LoginTarget,
  store: McpAuthStore,
  redirectUrl: string,
  state: string,
): LoginProvider {
  const { clientMetadataUrl, clientRegistration, clientName = "Tau", clientSecret, scope } = oauth;
  const found: LoginProvider["found"] = {};
  let verifier = "";
  let client: StoredOAuthClientInformation | undefined;
  const change = (edit: Parameters<McpAuthStore["change"]>[2]) => store.change(server, url, edit);
  return {
    found,
    redirectUrl,
    ...(clientMetadataUrl !== undefined && clientRegistration !== "dcr" && { clientMetadataUrl }),
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
      ...(scope === undefined ? {} : { scope }),
    },
    state: () => state,
    async clientInformation(context) {
      const own = clientOf(oauth);
      if (own !== undefined) return boundTo(own, context?.issuer);
      if (client !== undefined) return client;
      const stored = (await store.load(server, url))?.clientInformation;
      return redirectsOf(stored).includes(redirectUrl)
        ? boundTo(stored, context?.issuer)
        : undefined;
    },
    async saveClientInformation(clientInformation) {
      client = clientInformation;
      await change((kept) => ({ ...kept, clientInformation }));
    },
    tokens: async (context) => boundTo((await store.load(server, url))?.tokens, context?.issuer),
    async saveTokens(tokens) {
      const { discovered } = found;
      await change((kept) => ({
        ...withTokens({ ...kept, tokens: undefined }, tokens),
        ...(discovered === undefined ? {} : { discovery: discovered }),
      }));
    },
    redirectToAuthorization(page) {
      found.page = page.href;
    },
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(discovered) {
      found.discovered = discovered;
    },
    discoveryState: () => found.discovered,
  };
}
