import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** How the server mistreats token requests. */
export interface Faults {
  /** The status to answer with instead. */
  status?: number | undefined;
  /** How long to delay each answer, in ms. */
  delayMs?: number | undefined;
  /** Whether to close the connection without an answer. */
  dies?: boolean | undefined;
}

/**
 * A published OAuth server on loopback, strict about PKCE, codes and refresh tokens, each of which can be used once. It
 * adds what is particular to OpenAI and GitHub: device codes that yield the code of a browser login, and the exchange
 * for Copilot tokens.
 */
export class LoginServer implements AsyncDisposable {
  readonly faults: Faults = {};
  /** The fields of each token request. */
  readonly tokenRequests: URLSearchParams[] = [];
  readonly exchanges: string[] = [];
  /** The number of requests of any kind. */
  requestCount = 0;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #codes = new Map<string, { verifier: string; code?: string }>();
  #provider!: Provider;
  #url = "";

  get url(): string {
    return this.#url;
  }

  /** The provider's `login` in models.json, which sends the whole login to this server. */
  get overrides() {
    const at = (path: string) => `${this.#url}${path}`;
    const shared = { token: at("/oauth/token") };
    return {
      "openai-codex": {
        clientId: "codex",
        endpoints: {
          ...shared,
          authorize: at("/oauth/authorize"),
          redirect: "http://127.0.0.1/auth/callback",
          device: at("/usercode"),
          devicePoll: at("/devicepoll"),
          devicePage: at("/device-page"),
          deviceRedirect: at("/deviceauth/callback"),
        },
      },
      "github-copilot": {
        clientId: "copilot",
        endpoints: {
          ...shared,
          device: at("/login/device/code"),
          exchange: at("/copilot_internal/v2/token"),
          api: at("/api"),
        },
      },
    };
  }

  get refreshes(): number {
    return this.tokenRequests.filter((fields) => fields.get("grant_type") === "refresh_token")
      .length;
  }

  async start(tokenLife = 3600): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const grants = ["authorization_code", "refresh_token"];
    const client = {
      token_endpoint_auth_method: "none",
      application_type: "native",
      response_types: ["code"],
    };
    const account = "https://api.openai.com/auth";
    this.#provider = new Provider(this.#url, {
      clients: [
        {
          ...client,
          client_id: "codex",
          grant_types: grants,
          redirect_uris: ["http://127.0.0.1/auth/callback", `${this.#url}/deviceauth/callback`],
        },
        {
          ...client,
          client_id: "copilot",
          grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
          response_types: [],
          redirect_uris: [],
        },
      ],
      routes: {
        authorization: "/oauth/authorize",
        token: "/oauth/token",
        device_authorization: "/login/device/code",
      },
      scopes: ["openid", "offline_access", "read:user", "email", "profile"],
      claims: { openid: ["sub", account], email: ["email"], profile: ["name"] },
      conformIdTokenClaims: false,
      findAccount: (_: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, [account]: { chatgpt_account_id: `acct-${id}` } }),
      }),
      features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
      rotateRefreshToken: true,
      issueRefreshToken: () => true,
      ttl: {
        AccessToken: tokenLife,
        RefreshToken: 86_400,
        Session: 600,
        Grant: 86_400,
        Interaction: 600,
        IdToken: 600,
      },
      cookies: { keys: ["k"] },
    });
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requestCount += 1;
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#url);
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    switch (pathname) {
      case "/oauth/token": {
        const body = await readBody(request);
        this.tokenRequests.push(new URLSearchParams(body));
        const { status, delayMs = 0, dies } = this.faults;
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        if (dies) return void request.socket.destroy();
        if (status !== undefined) {
          const description = `refused ${new URLSearchParams(body).get("refresh_token")}`;
          return json({ error: "invalid_grant", error_description: description }, status);
        }
        // The library accepts a body that was already read.
        Object.assign(request, { body });
        return this.#provider.callback()(request, response);
      }
      case "/login/device/code": {
        const end = response.end.bind(response);
        // The library omits the interval, which then defaults to five seconds.
        response.end = ((body: unknown) => {
          const answer = JSON.stringify({ ...JSON.parse(String(body)), interval: 0 });
          response.setHeader("content-length", Buffer.byteLength(answer));
          return end(answer);
        }) as typeof response.end;
        return this.#provider.callback()(request, response);
      }
      case "/usercode": {
        const id = randomBytes(8).toString("hex");
        this.#codes.set(id, { verifier: randomBytes(32).toString("base64url") });
        return json({ device_auth_id: id, user_code: id, interval: "0" });
      }
      case "/device-page": {
        const verifier = this.#codes.get(searchParams.get("code") ?? "")?.verifier ?? "";
        const page = new URL(`${this.#url}/oauth/authorize`);
        const asked = {
          response_type: "code",
          client_id: "codex",
          redirect_uri: `${this.#url}/deviceauth/callback`,
          scope: "openid offline_access",
          prompt: "consent",
          code_challenge: createHash("sha256").update(verifier).digest("base64url"),
          code_challenge_method: "S256",
          state: searchParams.get("code") ?? "",
        };
        for (const [name, value] of Object.entries(asked)) page.searchParams.set(name, value);
        return void response.writeHead(302, { location: page.href }).end();
      }
      case "/deviceauth/callback": {
        const known = this.#codes.get(searchParams.get("state") ?? "");
        if (known !== undefined) known.code = searchParams.get("code") ?? "";
        return void response.end("entered");
      }
      case "/devicepoll": {
        const { device_auth_id: id } = JSON.parse(await readBody(request));
        const { code, verifier } = this.#codes.get(id) ?? {};
        if (code === undefined) return json({ error: "not yet" }, 403);
        return json({ authorization_code: code, code_verifier: verifier });
      }
      case "/copilot_internal/v2/token": {
        const token = (request.headers.authorization ?? "").replace("Bearer ", "");
        this.exchanges.push(token);
        if ((await this.#provider.AccessToken.find(token)) === undefined) {
          return json({ message: "Bad credentials" }, 401);
        }
        const end = Math.floor(Date.now() / 1000) + 1500;
        const made = `tid=${this.exchanges.length};exp=${end};proxy-ep=proxy.example.com;sku=x`;
        return json({ token: made, expires_at: end, refresh_in: 1200 });
      }
      case "/api/models":
        return json({
          data: [
            { id: "gpt-6-sol", capabilities: { type: "chat" }, model_picker_enabled: true },
            { id: "text-embedding", capabilities: { type: "embeddings" } },
            { id: "gpt-off", capabilities: { type: "chat" }, policy: { state: "disabled" } },
          ],
        });
      default:
        return this.#provider.callback()(request, response);
    }
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

/** Acts as a user's browser: follows redirects, keeps cookies, and agrees to every form. */
export async function browse(url: string, userCode?: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (address: string, body?: URLSearchParams): Promise<[string, string]> => {
    const response = await fetch(address, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(body && { method: "POST", body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) return [address, await response.text()];
    return visit(new URL(location, address).href);
  };
  let [place, page] = await visit(url);
  for (let step = 0; step < 8; step += 1) {
    const form = /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(page);
    if (form === null) return page;
    const fields = new URLSearchParams();
    for (const [input] of (form[2] ?? "").matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]+)"/.exec(input)?.[1];
      if (name !== undefined) fields.set(name, /value="([^"]*)"/.exec(input)?.[1] ?? "");
    }
    if (fields.has("login")) fields.set("login", "ada");
    if (fields.has("user_code") && userCode !== undefined) fields.set("user_code", userCode);
    [place, page] = await visit(new URL(form[1] ?? "", place).href, fields);
  }
  return page;
}
