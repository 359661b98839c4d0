import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DEFAULT_MAX_LINE_BYTES, errorMessage, ProtocolError } from "@tau-agent/rpc-protocol";
import { WebSocketServer } from "ws";
import type { ClientSetup } from "../clients/client-options.ts";
import { type Access, chooseProtocol, refusalOf } from "./access.ts";
import { ConsoleCodes } from "./console/console-codes.ts";
import { ConsoleHosts } from "./console/console-hosts.ts";
import { HttpRoutes } from "./http-routes.ts";
import type { Listener } from "./listener.ts";
import type { OpenConnection, PortParts } from "./port-parts.ts";
import { readToken, tokenCheck } from "./token.ts";
import { serveWebSocket } from "./web-socket.ts";

export interface PortOptions {
  readonly tokenFile: string;
  readonly origins: readonly string[];
  readonly pingMs: number;
  /** The host names under which the console answers, besides the address; undefined for no console. */
  readonly consoleHosts?: readonly string[] | undefined;
}

/**
 * Listens on a TCP port for WebSockets and HTTP, always with a token.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export async function listenOnPort(
  { host, port }: { readonly host: string; readonly port: number },
  setup: ClientSetup,
  { tokenFile, origins, pingMs, consoleHosts }: PortOptions,
): Promise<Listener> {
  const console = consoleHosts && {
    codes: new ConsoleCodes(),
    hosts: new ConsoleHosts(consoleHosts),
  };
  const isToken = tokenCheck(readToken(tokenFile));
  const access: Access = {
    allows: (origin, { headers }) =>
      origins.includes(origin) || console?.hosts.isOwn(origin, headers.host) === true,
    isToken: (given) => isToken(given) || console?.codes.isToken(given) === true,
    console,
  };
  const open = new Set<OpenConnection>();
  const routes = new HttpRoutes({ setup, access, pingMs, open });
  // An import would evaluate every export of the module, and one of them loads Node's `fetch`.
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer((request, response) => void routes.handle(request, response));
  acceptWebSockets(server, { setup, access, pingMs, open });
  await bind(server, host, port);
  const { address, family, port: bound } = server.address() as AddressInfo;
  const shown = family === "IPv6" ? `[${address}]` : address;
  console?.hosts.listening([shown, host.includes(":") ? `[${host}]` : host], bound);
  return {
    url: `ws://${shown}:${bound}`,
    tokenFile,
    ...(console && {
      consoleLink: () => `http://${shown}:${bound}/console#code=${console.codes.issue()}`,
    }),
    stop: () => void server.close(),
    end: async () => {
      await Promise.all([...open].map((connection) => connection.end()));
      server.closeAllConnections();
    },
  };
}

function acceptWebSockets(server: Server, { setup, access, pingMs, open }: PortParts): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: DEFAULT_MAX_LINE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => chooseProtocol(offered),
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const refuse = (status: string, ...headers: string[]): void => {
      const lines = [`HTTP/1.1 ${status}`, ...headers, "Referrer-Policy: no-referrer"];
      socket.end(`${[...lines, "Connection: close", "Content-Length: 0"].join("\r\n")}\r\n\r\n`);
    };
    const refusal = refusalOf(request, access, { takesQuery: false });
    if (refusal?.status === 421) return refuse("421 Misdirected Request");
    if (refusal?.status === 403) return refuse("403 Forbidden");
    if (refusal !== undefined) return refuse("401 Unauthorized", "WWW-Authenticate: Bearer");
    const { pathname } = new URL(request.url ?? "/", "http://host");
    if (pathname !== "/rpc" && pathname !== "/") return refuse("404 Not Found");
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = serveWebSocket(webSocket, { setup, pingMs }, () =>
        open.delete(connection),
      );
      open.add(connection);
    });
  });
}

async function bind(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) => {
      const values = { option: `--listen ${host}:${port}`, reason: errorMessage(error) };
      reject(new ProtocolError("invalid_option", values, { cause: error }));
    });
    server.listen(port, host);
  });
}
