import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type ListenOptions, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { allowsHost } from "../policy/domain-list.ts";
import { type ClosedPorts, closedLookup, isClosed } from "./closed-lookup.ts";
import { hopHeaders } from "./hop-headers.ts";
import type { SecretGate } from "./secret-gate.ts";

export interface ProxyRules {
  readonly domains: readonly string[];
  readonly closedPorts: ClosedPorts;
  /** Handles traffic to the hosts of secrets; undefined without secrets. */
  readonly secrets?: SecretGate | undefined;
  /** The password that clients must send to use a secret, if other programs can reach the proxy, too. */
  readonly password?: string | undefined;
}

/** A proxy for HTTP and CONNECT to the names on a list. */
export interface Proxy {
  readonly server: Server;
  /** Ends the proxy with its connections. */
  readonly close: () => Promise<void>;
}

/** A proxy without a listening socket: its server receives streams as `connection` events. */
export function createProxy(rules: ProxyRules): Proxy {
  const open = new Set<Duplex>();
  const follow = (socket: Duplex): void => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const server = createServer((request, response) => forward(request, response, rules));
  server.on("connection", follow);
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const said = request.headers["proxy-authorization"];
    const target = tunnel(request.url ?? "", { client, head, rules, said });
    if (target !== undefined) follow(target);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  return { server, close };
}

/** Starts a proxy that listens. */
export async function startProxy(
  address: ListenOptions,
  rules: ProxyRules,
): Promise<{ readonly port?: number; readonly close: () => Promise<void> }> {
  const { server, close } = createProxy(rules);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, resolve);
  });
  server.unref();
  const place = server.address();
  return typeof place === "object" && place !== null ? { port: place.port, close } : { close };
}

interface TunnelParts {
  readonly client: Duplex;
  readonly head: Buffer;
  readonly rules: ProxyRules;
  /** The credentials that the client sent to the proxy. */
  readonly said: string | undefined;
}

function credentialsFor(password: string): string {
  return `Basic ${Buffer.from(`tau:${password}`).toString("base64")}`;
}

function tunnel(authority: string, { client, head, rules, said }: TunnelParts): Socket | undefined {
  const target = parse(`http://${authority}`);
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? 443);
  if (target !== undefined && rules.secrets?.serves(hostOf(target), port)) {
    const { password } = rules;
    if (password !== undefined && said !== credentialsFor(password)) {
      client.end("HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n");
      return undefined;
    }
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    rules.secrets
      .accept(client, head, { host: hostOf(target), port })
      .catch(() => client.destroy());
    return undefined;
  }
  if (target === undefined || !allowsHost(rules.domains, target.hostname)) {
    client.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n${refusalOf(authority)}`);
    return undefined;
  }
  const upstream = connect({
    host: hostOf(target),
    port,
    lookup: closedLookup(port, rules.closedPorts),
    allowHalfOpen: true,
  });
  let isOpen = false;
  upstream.once("connect", () => {
    if (isClosed(upstream.remoteAddress ?? "", port, rules.closedPorts)) return upstream.destroy();
    isOpen = true;
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    upstream.write(head);
    client.pipe(upstream).pipe(client);
  });
  upstream.once("error", () => {
    if (isOpen) client.destroy();
    else client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  client.once("close", () => upstream.destroy());
  return upstream;
}

function forward(request: IncomingMessage, response: ServerResponse, rules: ProxyRules): void {
  const target = parse(request.url ?? "");
  const refuse = (status: number, text: string): void => {
    response.writeHead(status, { "content-type": "text/plain" }).end(text);
  };
  if (target?.protocol !== "http:") {
    refuse(400, "The sandbox's proxy takes http: addresses and CONNECT.");
    return;
  }
  if (rules.secrets?.isNamed(hostOf(target))) {
    rules.secrets.refused(`A plain HTTP request to ${target.host} was refused: it has a secret.`);
    refuse(403, `Only HTTPS goes to ${target.host}: the sandbox has a secret for it.\n`);
    return;
  }
  if (!allowsHost(rules.domains, target.hostname)) {
    refuse(403, refusalOf(target.host));
    return;
  }
  const port = Number(target.port || 80);
  const headers = Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name));
  const upstream = httpRequest(
    {
      host: hostOf(target),
      port,
      path: target.pathname + target.search,
      method: request.method,
      agent: false,
      headers: { ...Object.fromEntries(headers), host: target.host },
      lookup: closedLookup(port, rules.closedPorts),
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    },
  );
  upstream.once("socket", (socket) => {
    socket.once("connect", () => {
      if (isClosed(socket.remoteAddress ?? "", port, rules.closedPorts))
        upstream.destroy(new Error("closed"));
    });
  });
  upstream.once("error", () =>
    response.headersSent ? response.destroy() : refuse(502, "The server cannot be reached."),
  );
  response.once("close", () => upstream.destroy());
  request.pipe(upstream);
}

function parse(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

function refusalOf(host: string): string {
  return `The sandbox does not let ${host} be reached; sandbox.network lists what may be.\n`;
}
