import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

/**
 * An MCP server over streamable HTTP, with its own authorization server if it requires logins. A test changes
 * its members while it runs.
 */
export class HttpFixture {
  readonly #server: Server;
  /** The paths of all requests, with the method of MCP requests. */
  readonly requests: string[] = [];
  /** The accepted tokens; undefined if none is needed. */
  tokens: Set<string> | undefined;
  readonly refreshTokens = new Set<string>();
  /** The scope required by calls of tools. */
  neededScope: string | undefined;
  grantedScope = "";
  /** The status with which every request of the protocol is answered, if any. */
  refusal: number | undefined;
  readonly sessions = new Set<string>();
  /** The address of the login page; on this server if undefined. */
  authorizationEndpoint: string | undefined;
  /** The query of the last login page. */
  lastPage: URLSearchParams | undefined;
  registers = true;
  /** How long a renewal takes. */
  renewalMs = 0;
  #challenges = new Map<string, string>();
  #count = 0;

  static async start(): Promise<HttpFixture> {
    const fixture = new HttpFixture();
    await new Promise<void>((resolve) => fixture.#server.listen(0, "127.0.0.1", resolve));
    return fixture;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  count(text: string): number {
    return this.requests.filter((request) => request.includes(text)).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const body = await readBody(request);
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (url.pathname === "/mcp") return this.#mcp(request, response, body);
    this.requests.push(`${url.pathname} ${body}`);
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
      case "/.well-known/oauth-protected-resource":
        return json({ resource: this.url, authorization_servers: [this.origin] });
      case "/.well-known/oauth-authorization-server":
        return json({
          issuer: this.origin,
          authorization_endpoint: this.authorizationEndpoint ?? `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          grant_types_supported: ["authorization_code", "refresh_token"],
        });
      case "/page":
        return void response
          .writeHead(404, { "content-type": "text/html" })
          .end("<!DOCTYPE html>\n<html><body>Cannot POST /page</body></html>");
      case "/register":
        if (!this.registers) return void response.writeHead(404).end("<html>Not here</html>");
        return json({ ...JSON.parse(body), client_id: "client-1" }, 201);
      case "/authorize":
        return this.#authorize(url.searchParams, response);
      case "/token":
        return this.#token(new URLSearchParams(body), json);
      default:
        response.writeHead(404).end();
    }
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    this.lastPage = query;
    const code = randomUUID();
    this.#challenges.set(code, query.get("code_challenge") ?? "");
    this.grantedScope = query.get("scope") ?? "";
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    response.writeHead(302, { location: back.href }).end();
  }

  async #token(
    query: URLSearchParams,
    json: (value: unknown, status?: number) => void,
  ): Promise<void> {
    if (query.get("grant_type") === "refresh_token") {
      await new Promise((resolve) => setTimeout(resolve, this.renewalMs));
      const isKnown = this.refreshTokens.delete(query.get("refresh_token") ?? "");
      return isKnown ? json(this.issue()) : json({ error: "invalid_grant" }, 400);
    }
    const hash = createHash("sha256").update(query.get("code_verifier") ?? "").digest("base64url");
    const isRight = this.#challenges.get(query.get("code") ?? "") === hash;
    return isRight ? json(this.issue()) : json({ error: "invalid_grant" }, 400);
  }

  /** New tokens, in the form of a token endpoint's answer. */
  issue(): Record<string, unknown> {
    this.#count += 1;
    const [access, refresh] = [`access-${this.#count}`, `refresh-${this.#count}`];
    this.tokens?.clear();
    this.tokens?.add(access);
    this.refreshTokens.add(refresh);
    const scope = this.grantedScope === "" ? {} : { scope: this.grantedScope };
    return {
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: 3600,
      ...scope,
    };
  }

  #mcp(request: IncomingMessage, response: ServerResponse, body: string): void {
    const message = (body === "" ? {} : JSON.parse(body)) as Message;
    this.requests.push(`/mcp ${request.method} ${message.method ?? ""}`);
    if (this.refusal !== undefined) return void response.writeHead(this.refusal).end();
    const refuse = (status: number, challenge: string): void => {
      const metadata = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(status, { "www-authenticate": `Bearer ${challenge}${metadata}` }).end();
    };
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (this.tokens !== undefined && !this.tokens.has(token)) return refuse(401, 'scope="read", ');
    const isCall = message.method === "tools/call";
    if (isCall && this.neededScope !== undefined && !this.grantedScope.includes(this.neededScope)) {
      return refuse(403, `error="insufficient_scope", scope="${this.neededScope}", `);
    }
    if (request.method === "GET") return void response.writeHead(405).end();
    if (request.method === "DELETE") return void response.writeHead(200).end();
    const session = String(request.headers["mcp-session-id"] ?? "");
    if (message.method !== "initialize" && !this.sessions.has(session)) {
      return void response.writeHead(404).end();
    }
    if (message.id === undefined) return void response.writeHead(202).end();
    const own = message.method === "initialize" ? randomUUID() : session;
    this.sessions.add(own);
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": own });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message) }));
  }
}

function resultOf({ method, params }: Message): unknown {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "http", version: "1" },
      };
    case "tools/list":
      return { tools: [{ name: "hello", inputSchema: { type: "object" } }] };
    default:
      return { content: [{ type: "text", text: `called ${params?.name}` }] };
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
