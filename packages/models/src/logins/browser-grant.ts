import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { listenForCallback, randomHex, unlessAborted } from "@tau-agent/system";
import { whileOpen } from "./device-grant.ts";
import type { LoginAttempt } from "./login-definition.ts";
import { LoginRefused, safeAddress, sendTokenRequest, tokensOf } from "./token-request.ts";

/** A vendor's login in a browser, with PKCE and a redirect to this machine. */
export interface BrowserGrant {
  readonly clientId: string;
  readonly scope?: string | undefined;
  readonly endpoints: {
    readonly authorize: string;
    readonly token: string;
    /** The redirect address registered for the client. */
    readonly redirect: string;
  };
  /** Parameters of the login page in addition to those of OAuth. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Shows the page, waits for the browser and exchanges its code for tokens. */
export async function grantInBrowser(
  { clientId, scope, endpoints, parameters = {} }: BrowserGrant,
  attempt: LoginAttempt,
): Promise<JsonObject> {
  const state = randomHex(32);
  const verifier = randomHex(48);
  const { createHash } = process.getBuiltinModule("node:crypto");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const callback = await listenForCallback({ state, url: endpoints.redirect }).catch(
    (error: unknown) => {
      const { port } = new URL(endpoints.redirect);
      const reason = `port ${port}, to which the browser comes back, is not free; use --method device`;
      throw new LoginRefused(reason, { cause: error });
    },
  );
  try {
    const page = safeAddress(endpoints.authorize);
    const asked = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: callback.redirectUrl,
      ...(scope !== undefined && { scope }),
      code_challenge: challenge,
      code_challenge_method: "S256",
      state,
      ...parameters,
    };
    for (const [name, value] of Object.entries(asked)) page.searchParams.set(name, value);
    const opened = attempt.open({ url: page.href });
    const answer = await whileOpen(opened, () => unlessAborted(callback.answer, attempt.signal));
    const error = answer.get("error");
    if (error !== null) {
      throw new LoginRefused(`it was refused: ${answer.get("error_description") ?? error}`);
    }
    const code = answer.get("code");
    if (!code) throw new LoginRefused("the page gave no code");
    return await exchangeCode(
      { clientId, url: endpoints.token, code, verifier, redirect: callback.redirectUrl },
      attempt,
    );
  } finally {
    callback.close();
  }
}

export async function exchangeCode(
  given: {
    readonly clientId: string;
    readonly url: string;
    readonly code: string;
    readonly verifier: string;
    readonly redirect: string;
  },
  attempt: LoginAttempt,
): Promise<JsonObject> {
  const { clientId, url, code, verifier, redirect } = given;
  const fields = {
    grant_type: "authorization_code",
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: redirect,
  };
  return tokensOf(await sendTokenRequest({ url, fields }, attempt), url, [code, verifier]);
}
