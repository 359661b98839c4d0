import { lookup } from "node:dns";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { connect, isIP, type ListenOptions, type LookupFunction, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { Duplex } from "node:stream";
import { allowsHost } from "../policy/domain-list.ts";

export interface ProxyRules {
  readonly domains: readonly string[];
  /** Ports of this machine that stay closed: the host's own. */
  readonly closedPorts: () => readonly number[];
}

/** Headers that are for the proxy, or for the next hop only (RFC 9110, section 7.6.1). */
const hopHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Starts a proxy for HTTP and CONNECT, for the names of a list; `close` also ends its connections.
 */
export async function startProxy(
  address: ListenOptions,
  rules: ProxyRules,
): Promise<{ readonly port?: number; readonly close: () => Promise<void> }> {
  const open = new Set<Duplex>();
  const follow = (socket: Duplex): void => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const server = createServer((request, response) => forward(request, response, rules));
  server.on("connection", follow);
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const target = tunnel(request.url ?? "", { client, head, rules });
    if (target !== undefined) follow(target);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, resolve);
  });
  server.unref();
  const place = server.address();
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  return typeof place === "object" && place !== null ? { port: place.port, close } : { close };
}

function tunnel(
  authority: string,
  { client, head, rules }: { client: Duplex; head: Buffer; rules: ProxyRules },
): Socket | undefined {
  const target = parse(`http://${authority}`);
  if (target === undefined || !allowsHost(rules.domains, target.hostname)) {
    client.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n${refusalOf(authority)}`);
    return undefined;
  }
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? 443);
  const upstream = connect({
    host: hostOf(target),
    port,
    lookup: checkedLookup(port, rules),
    allowHalfOpen: true,
  });
  let isOpen = false;
  upstream.once("connect", () => {
    if (isClosed(upstream.remoteAddress ?? "", port, rules)) return upstream.destroy();
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
      lookup: checkedLookup(port, rules),
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    },
  );
  upstream.once("socket", (socket) => {
    socket.once("connect", () => {
      if (isClosed(socket.remoteAddress ?? "", port, rules)) upstream.destroy(new Error("closed"));
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

/** Refuses addresses of this machine where the port is one of the host's own. */
function checkedLookup(port: number, rules: ProxyRules): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const allowed = addresses.filter(({ address }) => !isClosed(address, port, rules));
      const [first] = allowed;
      if (first === undefined) return callback(new Error(`${host} is closed`), "", 0);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function isClosed(address: string, port: number, { closedPorts }: ProxyRules): boolean {
  if (!closedPorts().includes(port)) return false;
  const plain = address.replace(/^::ffff:/, "");
  if (isIP(plain) === 0 || /^(?:127\.|0\.|::1$|::$)/.test(plain)) return true;
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((each) => each.address === plain),
  );
}
