import type {
  AuthProvider,
  OAuthServerInfo,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { OAuthEntry } from "../config/server-entry.ts";
import { NeedsLogin } from "../connection/failures.ts";
import type { LoginTarget } from "../connection/open-server.ts";
import type { McpAuthState, McpAuthStore } from "./auth-store.ts";
import { isOfAnother, issuerOf } from "./issuer.ts";

export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

/** Tokens this close to their expiry are renewed before use. */
const RENEW_BEFORE_MS = 30_000;

/**
 * The tokens of one server. Sends the stored token, and renews it when it has expired or was refused, once
 * for any number of requests and processes. Never starts a login.
 */
export function createServerTokens(
  target: LoginTarget,
  store: McpAuthStore,
  onChallenge: (challenge: Challenge) => void,
): AuthProvider {
  let renewal: Promise<void> | undefined;

  function load(): Promise<McpAuthState | undefined> {
    return store.load(target.server, target.url);
  }

  function renew(refused: string): Promise<void> {
    renewal ??= renewNow(refused).finally(() => {
      renewal = undefined;
    });
    return renewal;
  }

  async function renewNow(refused: string): Promise<void> {
    const { server, url } = target;
    await store.alone(server, url, async () => {
      const state = await load();
      // Another process has renewed it meanwhile.
      if (state?.tokens !== undefined && state.tokens.access_token !== refused) return;
      const refreshToken = state?.tokens?.refresh_token;
      const client = clientOf(target.oauth) ?? state?.clientInformation;
      if (state === undefined || refreshToken === undefined || client === undefined) {
        throw new NeedsLogin("the login has run out");
      }
      await refresh(state, refreshToken, client);
    });
  }

  async function refresh(
    state: McpAuthState,
    refreshToken: string,
    clientInformation: StoredOAuthClientInformation,
  ): Promise<void> {
    const { server, url, fetch } = target;
    const { refreshAuthorization } = await import("@modelcontextprotocol/client");
    const info = state.discovery ?? (await discover(target));
    const { authorizationServerMetadata: metadata, authorizationServerUrl } = info;
    const issuer = issuerOf(info);
    // If the server now names another authorization server, that one must not receive what the first one issued.
    for (const issued of [state.tokens, clientInformation]) {
      if (issued === undefined || !isOfAnother(issued, issuer)) continue;
      throw new NeedsLogin(
        `it names another authorization server (${issuer}) than the login is of (${issued.issuer})`,
      );
    }
    const tokens = await refreshAuthorization(authorizationServerUrl, {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation,
      refreshToken,
      resource: info.resourceMetadata?.resource ?? url.href,
      fetchFn: fetch,
    }).catch((error: unknown) => {
      throw new NeedsLogin(`the login could not be renewed: ${errorMessage(error)}`, {
        cause: error,
      });
    });
    await store.change(server, url, (current) => withTokens(current, { ...tokens, issuer }));
  }

  return {
    async token() {
      const state = await load();
      if (state?.tokens === undefined) return undefined;
      const { tokensExpireAt: end, tokens } = state;
      const isOver = end !== undefined && end - RENEW_BEFORE_MS <= Date.now();
      if (!isOver || tokens.refresh_token === undefined) return tokens.access_token;
      await renew(tokens.access_token);
      return (await load())?.tokens?.access_token;
    },
    async onUnauthorized({ response }) {
      const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      onChallenge({ resourceMetadataUrl, scope });
      const refused = (await load())?.tokens?.access_token;
      if (refused === undefined) throw new NeedsLogin("the server wants a login");
      await renew(refused);
    },
  };
}

export type ServerTokens = AuthProvider;

/** A state with new tokens; the old refresh token is kept unless it is replaced. */
export function withTokens(
  { tokensExpireAt: _, ...state }: McpAuthState,
  tokens: NonNullable<McpAuthState["tokens"]>,
): McpAuthState {
  const kept = state.tokens?.refresh_token;
  const { expires_in: seconds } = tokens;
  return {
    ...state,
    tokens: { ...(kept === undefined ? {} : { refresh_token: kept }), ...tokens },
    ...(seconds === undefined ? {} : { tokensExpireAt: Date.now() + seconds * 1000 }),
  };
}

/** The client that an entry names, if any. */
export function clientOf({
  clientId,
  clientSecret,
}: OAuthEntry): StoredOAuthClientInformation | undefined {
  if (clientId === undefined) return undefined;
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
  };
}

/** Finds the authorization server of a server, or uses the one named in its entry. */
export async function discover(
  { url, oauth, fetch }: LoginTarget,
  resourceMetadataUrl?: URL,
): Promise<OAuthServerInfo> {
  const { discoverOAuthServerInfo } = await import("@modelcontextprotocol/client");
  const { authServerMetadataUrl } = oauth;
  if (authServerMetadataUrl === undefined) {
    return discoverOAuthServerInfo(url, {
      fetchFn: fetch,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    });
  }
  const response = await fetch(authServerMetadataUrl, { headers: { accept: "application/json" } });
  if (!response.ok) {
    throw new Error(`oauth.authServerMetadataUrl answered with HTTP ${response.status}`);
  }
  const metadata = (await response.json()) as OAuthServerInfo["authorizationServerMetadata"];
  return {
    authorizationServerUrl: String(metadata?.issuer ?? new URL(authServerMetadataUrl).origin),
    authorizationServerMetadata: metadata,
  } as OAuthServerInfo;
}
