import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewTokens } from "../auth/store.ts";
import type {
  LoginAttempt,
  LoginContext,
  LoginDefinition,
  LoginTokens,
} from "./login-definition.ts";
import { pollDevice } from "./poll-device.ts";
import {
  describe,
  LoginRefused,
  safeAddress,
  sendTokenRequest,
  tokensOf,
} from "./token-request.ts";

/** A vendor's login with device codes as RFC 8628 describes it. */
export interface DeviceGrant {
  readonly clientId: string;
  readonly scope?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly endpoints: { readonly device: string; readonly token: string };
}

export function withOverrides<Grant extends DeviceGrant>(
  grant: Grant,
  { clientId = grant.clientId, scope = grant.scope, endpoints }: LoginContext["overrides"],
): Grant {
  return { ...grant, clientId, scope, endpoints: { ...grant.endpoints, ...endpoints } };
}

/** Requests a code, shows it, and waits for the user. */
export async function grantDevice(grant: DeviceGrant, attempt: LoginAttempt): Promise<JsonObject> {
  const { clientId, scope, headers = {}, endpoints } = grant;
  const { signal } = attempt;
  const began = await sendTokenRequest(
    {
      url: endpoints.device,
      headers,
      fields: { client_id: clientId, ...(scope !== undefined && { scope }) },
    },
    attempt,
  );
  const code = tokensOf(began, endpoints.device, []);
  const deviceCode = textOf(code, "device_code", endpoints.device);
  const userCode = textOf(code, "user_code", endpoints.device);
  const page = code.verification_uri ?? code.verification_url;
  const opened = attempt.open({ url: safeAddress(String(page)).href, userCode });
  const poll = async () => {
    const reply = await sendTokenRequest(
      {
        url: endpoints.token,
        headers,
        fields: {
          grant_type: "urn:ietf:params:oauth:grant-type:device_code",
          client_id: clientId,
          device_code: deviceCode,
        },
      },
      attempt,
    );
    switch (reply.body.error) {
      case "authorization_pending":
        return { kind: "pending" } as const;
      case "slow_down":
        return { kind: "slow_down", intervalMs: secondsOf(reply.body.interval) } as const;
      case "access_denied":
        throw new LoginRefused("it was refused on the page");
      case "expired_token":
        throw new LoginRefused("the code has expired before it was entered");
      default:
        return { kind: "done", result: tokensOf(reply, endpoints.token, [deviceCode]) } as const;
    }
  };
  return whileOpen(opened, (end) =>
    pollDevice({
      intervalMs: secondsOf(code.interval) ?? 5_000,
      expiresInMs: secondsOf(code.expires_in) ?? 900_000,
      signal: AbortSignal.any([signal, end]),
      poll,
    }),
  );
}

/** Waits for the user; fails if the page could not be shown. */
export async function whileOpen<Result>(
  opened: Promise<void>,
  wait: (end: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const end = new AbortController();
  const failed = opened.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => Promise.reject(error),
  );
  try {
    return await Promise.race([wait(end.signal), failed]);
  } finally {
    end.abort();
  }
}

/** A login with device codes only, whose tokens are sent unchanged. */
export function deviceGrantLogin(row: DeviceGrant): LoginDefinition {
  return {
    methods: ["device"],
    async login(_, attempt) {
      const grant = withOverrides(row, attempt.overrides);
      return loginTokens(await grantDevice(grant, attempt), grant.endpoints.token);
    },
    async refresh({ refresh }, context) {
      const { clientId, endpoints, headers = {} } = withOverrides(row, context.overrides);
      const fields = { grant_type: "refresh_token", client_id: clientId, refresh_token: refresh };
      const request = { url: endpoints.token, headers, fields };
      const reply = await sendTokenRequest(request, context);
      return newTokens(tokensOf(reply, endpoints.token, [refresh]), endpoints.token);
    },
  };
}

/** The access token and expiry in a reply, and the refresh token if there is one. */
export function newTokens(body: JsonObject, url: string): NewTokens {
  const access = textOf(body, "access_token", url);
  const lifeMs = secondsOf(body.expires_in) ?? 3_600_000;
  const { refresh_token: refresh } = body;
  return {
    access,
    expires: Date.now() + lifeMs,
    ...(typeof refresh === "string" && refresh !== "" && { refresh }),
  };
}

/** The tokens of a new login, which must include a refresh token. */
export function loginTokens(body: JsonObject, url: string): LoginTokens {
  return { ...newTokens(body, url), refresh: textOf(body, "refresh_token", url) };
}

export function textOf(body: JsonObject, name: string, url: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  const said = body.error === undefined ? "" : `: ${describe({ status: 200, body }, [])}`;
  throw new LoginRefused(`${new URL(url).host} sent no ${name}${said}`);
}

/** A number of seconds, which some servers send as text, converted to ms. */
export function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return seconds * 1000;
}
