import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import type { SandboxSecret } from "../../policy/secret-settings.ts";
import { createAuthority } from "../authority.ts";
import { createProxy, startProxy } from "../proxy.ts";
import { SecretGate } from "../secret-gate.ts";
import { SessionSecrets } from "../session-secrets.ts";

export const VALUE = "s3cr3t-value-0123456789";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The modules from which a rule may be removed. */
export interface ProxyModules {
  readonly createProxy: typeof createProxy;
  readonly startProxy: typeof startProxy;
  readonly SecretGate: typeof SecretGate;
  readonly SessionSecrets: typeof SessionSecrets;
}

export const realModules: ProxyModules = { createProxy, startProxy, SecretGate, SessionSecrets };

/** A proxy with one secret for a server on this machine, and the requests that reached that server. */
export class SecretProxy {
  readonly placeholder: string;
  readonly port: number;
  readonly serverPort: number;
  /** Heads and bodies of the requests that the server received. */
  readonly reached: string[];
  readonly notes: string[];
  readonly reads: () => number;
  readonly #authority: string;

  private constructor(parts: {
    placeholder: string;
    port: number;
    serverPort: number;
    reached: string[];
    notes: string[];
    reads: () => number;
    authority: string;
  }) {
    this.placeholder = parts.placeholder;
    this.port = parts.port;
    this.serverPort = parts.serverPort;
    this.reached = parts.reached;
    this.notes = parts.notes;
    this.reads = parts.reads;
    this.#authority = parts.authority;
  }

  static async start(
    {
      secret = {},
      answer = echo,
      value = () => VALUE,
    }: { secret?: Partial<SandboxSecret>; answer?: Answer; value?: () => string } = {},
    modules: ProxyModules = realModules,
  ): Promise<SecretProxy> {
    const upstream = await createAuthority(["localhost"]);
    const reached: string[] = [];
    const context = await upstream.contextFor("localhost");
    const server: Server = createServer(
      { SNICallback: (_name, done) => done(null, context) },
      (request, response) => {
        reached.push(headOf(request));
        request.on("data", (chunk: Buffer) => reached.push(chunk.toString("latin1")));
        request.on("end", () => answer(request, response));
      },
    );
    server.on("upgrade", (request, socket: Socket) => {
      reached.push(headOf(request));
      socket.end(`HTTP/1.1 101 Switching\r\nupgrade: websocket\r\n\r\n${headOf(request)}`);
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const serverPort = (server.address() as AddressInfo).port;
    let count = 0;
    const given = { env: "TOKEN", hosts: [`localhost:${serverPort}`], ...secret };
    const read = () => {
      count += 1;
      return value();
    };
    const secrets = new modules.SessionSecrets([{ ...given, value: read }], {
      environment: {},
      runCommand: async () => "",
    });
    const notes: string[] = [];
    secrets.listen({ note: ({ message }) => void notes.push(message), noteSecret: () => {} });
    const authority = await createAuthority(["localhost"]);
    const gate = new modules.SecretGate({
      secrets,
      authority,
      upstreamAuthorities: [upstream.certificate],
      closedPorts: () => [],
    });
    const rules = { domains: ["*"], closedPorts: () => [], secrets: gate };
    const { port = 0, close } = await modules.startProxy({ host: "127.0.0.1", port: 0 }, rules);
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await close();
    });
    return new SecretProxy({
      ...{ placeholder: secrets.variables.TOKEN ?? "", port, serverPort },
      ...{ reached, notes, reads: () => count, authority: authority.certificate },
    });
  }

  /** A CONNECT connection whose TLS ends at the proxy. */
  async connect(options: { servername?: string; alpn?: string[] } = {}): Promise<TLSSocket> {
    const raw = await this.tunnel(`localhost:${this.serverPort}`);
    const { servername = "localhost", alpn } = options;
    const socket = connectTls({
      socket: raw,
      servername,
      ca: this.#authority,
      checkServerIdentity: () => undefined,
      ...(alpn === undefined ? {} : { ALPNProtocols: alpn }),
    });
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("error", reject);
    });
    return socket;
  }

  async tunnel(authority: string): Promise<Socket> {
    const socket = connect(this.port, "127.0.0.1");
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`);
    const head = await new Promise<string>((resolve, reject) => {
      socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1")));
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("closed")));
    });
    if (!head.startsWith("HTTP/1.1 200")) throw new Error(head);
    return socket;
  }

  /** Sends bytes, and returns everything received until the connection ends. */
  async raw(text: string, options?: { servername?: string; alpn?: string[] }): Promise<string> {
    return conversation(await this.connect(options), text);
  }

  /** Sends one request with these headers, and returns the whole answer. */
  request(
    headers: Readonly<Record<string, string>> = {},
    { method = "GET", path = "/", body = "", host = `localhost:${this.serverPort}` } = {},
  ): Promise<string> {
    const lines = Object.entries({ ...headers, connection: "close" });
    const length = body === "" ? [] : [["content-length", String(body.length)]];
    const head = [...lines, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return this.raw(`${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${head}\r\n${body}`);
  }
}

/** Sends bytes, and returns everything received until the other side ends. */
export async function conversation(socket: Socket, text: string): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.write(text);
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.once("end", () => resolve());
    socket.once("error", () => resolve());
  });
  socket.destroy();
  return Buffer.concat(chunks).toString("latin1");
}

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  return `${method} ${url}\n${JSON.stringify(rawHeaders)}`;
}

/** Echoes the values of `authorization` and `x-token` in body and headers. */
export const echo: Answer = (request, response) => {
  const said = `${request.headers.authorization ?? ""} ${request.headers["x-token"] ?? ""}`;
  response.writeHead(200, { "x-echo": said });
  response.end(said);
};
