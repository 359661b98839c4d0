import { isJsonObject, type JsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";
import type { OAuthCredential } from "../auth/store.ts";
import { exchangeCode, grantInBrowser } from "./browser-grant.ts";
import { loginTokens, newTokens, secondsOf, textOf, whileOpen } from "./device-grant.ts";
import type {
  LoginAttempt,
  LoginContext,
  LoginDefinition,
  LoginTokens,
} from "./login-definition.ts";
import { pollDevice } from "./poll-device.ts";
import { LoginRefused, sendTokenRequest, tokensOf } from "./token-request.ts";

const server = "https://auth.openai.com";

/** The public client of Codex, and the addresses for its ChatGPT login. */
const client = {
  clientId: "app_EMoamEEZ73f0CkXaXp7hrann",
  scope: "openid profile email offline_access",
  endpoints: {
    authorize: `${server}/oauth/authorize`,
    token: `${server}/oauth/token`,
    redirect: "http://localhost:1455/auth/callback",
    device: `${server}/api/accounts/deviceauth/usercode`,
    devicePoll: `${server}/api/accounts/deviceauth/token`,
    devicePage: `${server}/codex/device`,
    deviceRedirect: `${server}/deviceauth/callback`,
  },
  parameters: {
    id_token_add_organizations: "true",
    codex_cli_simplified_flow: "true",
    originator: "tau",
  },
};

type Client = typeof client;

/** The lifetime of a code, which the server does not report. */
const codeLifeMs = 15 * 60_000;

/** ChatGPT: a browser on this machine, or a code. */
export const codexLogin: LoginDefinition = {
  methods: ["oauth", "device"],
  async login(method, attempt) {
    const own = clientOf(attempt);
    const body = await (method === "device"
      ? grantCode(own, attempt)
      : grantInBrowser(own, attempt));
    return withAccount(loginTokens(body, own.endpoints.token), body);
  },
  async refresh({ refresh, accountId }, context) {
    const { clientId, endpoints } = clientOf(context);
    const fields = { grant_type: "refresh_token", refresh_token: refresh, client_id: clientId };
    const reply = await sendTokenRequest({ url: endpoints.token, fields }, context);
    const body = tokensOf(reply, endpoints.token, [refresh]);
    const tokens = newTokens(body, endpoints.token);
    const account = accountOf(body) ?? accountId;
    return { ...tokens, ...(account !== undefined && { accountId: account }) };
  },
  headersOf: ({ accountId }: OAuthCredential) =>
    typeof accountId === "string" ? { "chatgpt-account-id": accountId } : {},
};

function clientOf({ overrides }: Pick<LoginContext, "overrides">): Client {
  const { clientId = client.clientId, scope = client.scope, endpoints } = overrides;
  return { ...client, clientId, scope, endpoints: { ...client.endpoints, ...endpoints } };
}

/** A code of OpenAI's own kind: it yields the code of a browser login, which is exchanged for tokens. */
async function grantCode(own: Client, attempt: LoginAttempt): Promise<JsonObject> {
  const { clientId, endpoints } = own;
  const began = await sendTokenRequest(
    { url: endpoints.device, json: true, fields: { client_id: clientId } },
    attempt,
  );
  const code = tokensOf(began, endpoints.device, []);
  const deviceId = textOf(code, "device_auth_id", endpoints.device);
  const userCode = textOf({ user_code: code.usercode, ...code }, "user_code", endpoints.device);
  const url = endpoints.devicePoll;
  const poll = async () => {
    const fields = { device_auth_id: deviceId, user_code: userCode };
    const reply = await sendTokenRequest({ url, json: true, fields }, attempt);
    // Until the user has entered the code, the server reports it as unknown.
    if (reply.status === 403 || reply.status === 404) return { kind: "pending" } as const;
    return { kind: "done", result: tokensOf(reply, url, [deviceId]) } as const;
  };
  const opened = attempt.open({ url: endpoints.devicePage, userCode });
  const granted = await whileOpen(opened, (end) =>
    pollDevice({
      intervalMs: secondsOf(code.interval) ?? 5_000,
      expiresInMs: codeLifeMs,
      signal: AbortSignal.any([attempt.signal, end]),
      poll,
    }),
  );
  return exchangeCode(
    {
      clientId,
      url: endpoints.token,
      code: textOf(granted, "authorization_code", url),
      verifier: textOf(granted, "code_verifier", url),
      redirect: endpoints.deviceRedirect,
    },
    attempt,
  );
}

function withAccount(tokens: LoginTokens, body: JsonObject): LoginTokens {
  const accountId = accountOf(body);
  if (accountId !== undefined) return { ...tokens, accountId };
  throw new LoginRefused("the login names no ChatGPT account");
}

function accountOf({ access_token: access, id_token: id }: JsonObject): string | undefined {
  for (const token of [access, id]) {
    const { "https://api.openai.com/auth": auth } = claimsOf(token);
    const account = isJsonObject(auth) ? auth.chatgpt_account_id : undefined;
    if (typeof account === "string" && account !== "") return account;
  }
  return undefined;
}

function claimsOf(token: unknown): JsonObject {
  const [, payload = ""] = String(token).split(".");
  return parseObject(Buffer.from(payload, "base64url").toString("utf8")) ?? {};
}
