import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewTokens, OAuthCredential } from "../auth/store.ts";
import { type DeviceGrant, grantDevice, textOf, withOverrides } from "./device-grant.ts";
import type { LoginContext, LoginDefinition } from "./login-definition.ts";
import { LoginRefused, sendTokenRequest, tokensOf } from "./token-request.ts";

/** GitHub issues Copilot tokens only to editors that it knows. */
const editor = {
  "user-agent": "GitHubCopilotChat/0.35.0",
  "editor-version": "vscode/1.107.0",
  "editor-plugin-version": "copilot-chat/0.35.0",
  "copilot-integration-id": "vscode-chat",
};

/** Tokens count as expired this long before they expire, as other pi-compatible hosts store them, in ms. */
const earlyMs = 5 * 60_000;
const modelsLimitMs = 10_000;

interface CopilotGrant extends DeviceGrant {
  readonly endpoints: DeviceGrant["endpoints"] & {
    /** Where the GitHub login is exchanged for a Copilot token. */
    readonly exchange: string;
    /** The address for Copilot's requests; by default the token contains it. */
    readonly api?: string;
  };
}

function grantOf({ overrides }: LoginContext, stored?: unknown): CopilotGrant {
  const domain = domainOf(overrides.domain ?? stored);
  const host = domain ?? "github.com";
  const row: CopilotGrant = {
    clientId: "Iv1.b507a08c87ecfe98",
    scope: "read:user",
    headers: { "user-agent": editor["user-agent"] },
    endpoints: {
      device: `https://${host}/login/device/code`,
      token: `https://${host}/login/oauth/access_token`,
      exchange: `https://api.${host}/copilot_internal/v2/token`,
    },
  };
  return withOverrides(row, overrides);
}

/** GitHub Copilot: a device code at GitHub, then a token that is valid for half an hour. */
export const copilotLogin: LoginDefinition = {
  methods: ["device"],
  async login(_, attempt) {
    const grant = grantOf(attempt);
    const refresh = textOf(
      await grantDevice(grant, attempt),
      "access_token",
      grant.endpoints.token,
    );
    const domain = domainOf(attempt.overrides.domain);
    const tokens = await exchange(refresh, grant, attempt, domain);
    return { ...tokens, refresh, ...(domain !== undefined && { enterpriseUrl: domain }) };
  },
  refresh: ({ refresh, enterpriseUrl }, context) =>
    exchange(refresh, grantOf(context, enterpriseUrl), context, domainOf(enterpriseUrl)),
  baseUrlOf: addressOf,
  modelsOf: ({ availableModelIds: ids }) =>
    Array.isArray(ids) && ids.length > 0 ? ids.filter((id) => typeof id === "string") : undefined,
};

async function exchange(
  refresh: string,
  { endpoints }: CopilotGrant,
  context: LoginContext,
  domain: string | undefined,
): Promise<NewTokens> {
  const url = endpoints.exchange;
  const headers = { ...editor, authorization: `Bearer ${refresh}` };
  const reply = await sendTokenRequest({ url, method: "GET", headers }, context);
  const body = tokensOf(reply, url, [refresh]);
  const access = textOf(body, "token", url);
  const { expires_at: end } = body;
  if (typeof end !== "number") throw new LoginRefused(`${new URL(url).host} sent no expires_at`);
  const api = endpoints.api ?? addressOf({ access, enterpriseUrl: domain });
  const models = await modelsOfPlan(api, access, context).catch(() => undefined);
  return {
    access,
    expires: end * 1000 - earlyMs,
    ...(models !== undefined && { availableModelIds: models }),
  };
}

/** The model ids of the user's plan; undefined if they are unknown. */
async function modelsOfPlan(
  api: string,
  access: string,
  { fetch, signal }: LoginContext,
): Promise<readonly string[] | undefined> {
  const headers = {
    ...editor,
    authorization: `Bearer ${access}`,
    "x-github-api-version": "2026-06-01",
  };
  const request = { url: `${api.replace(/\/$/, "")}/models`, method: "GET", headers } as const;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(modelsLimitMs)]);
  const { status, body } = await sendTokenRequest(request, { fetch, signal: limit });
  if (status !== 200 || !Array.isArray(body.data)) return undefined;
  const ids = body.data.flatMap((model: unknown) => (isJsonObject(model) ? idsOf(model) : []));
  return ids.length === 0 ? undefined : ids;
}

/** The id of a model that can answer in conversations and that the plan has not disabled. */
function idsOf({ id, capabilities, policy, model_picker_enabled: isShown }: JsonObject): string[] {
  const type = isJsonObject(capabilities) ? capabilities.type : undefined;
  const state = isJsonObject(policy) ? policy.state : undefined;
  const isUsable =
    (type === undefined || type === "chat") &&
    (state === undefined || state === "enabled") &&
    isShown !== false;
  return isUsable && typeof id === "string" ? [id] : [];
}

/** The address for requests: the token names the proxy for the user's plan. */
function addressOf({
  access,
  enterpriseUrl,
}: Pick<OAuthCredential, "access"> & { readonly enterpriseUrl?: unknown }): string {
  const named = /(?:^|;)proxy-ep=([a-z\d.-]+(?::\d+)?)(?:;|$)/i.exec(access)?.[1];
  if (named !== undefined) return `https://${named.replace(/^proxy\./, "api.")}`;
  const domain = domainOf(enterpriseUrl);
  return domain === undefined
    ? "https://api.individual.githubcopilot.com"
    : `https://copilot-api.${domain}`;
}

/** A host name, which may be given as an address. */
function domainOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const text = value.trim();
  const url = text.includes("://") ? text : `https://${text}`;
  const host = URL.canParse(url) ? new URL(url).host : "";
  return host === "" || host === "github.com" ? undefined : host;
}
