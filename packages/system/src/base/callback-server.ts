import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Where the user's browser returns after the login. */
export interface CallbackServer {
  readonly redirectUrl: string;
  /** The parameters of the first request with the right state. */
  readonly answer: Promise<URLSearchParams>;
  close(): void;
}

export interface CallbackOptions {
  /** Unguessable; a request with any other state is refused. */
  readonly state: string;
  /** Any free port by default. */
  readonly port?: number | undefined;
  /** An address on this machine that is registered for the client. */
  readonly url?: string | undefined;
}

const page = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Tau</title><p>${text}</p>\n`;

/** Listens on this machine only, until closed. */
export async function listenForCallback(options: CallbackOptions): Promise<CallbackServer> {
  const given = options.url === undefined ? undefined : new URL(options.url);
  const host = (given?.hostname ?? "127.0.0.1").replace(/^\[|\]$/g, "");
  const path = given?.pathname ?? "/callback";
  const answer = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.setHeader("connection", "close");
    const end = (status: number, text: string): void => {
      response.statusCode = status;
      response.end(page(text));
    };
    if (request.method !== "GET" || url.pathname !== path) return end(404, "Not found.");
    if (url.searchParams.get("state") !== options.state) {
      return end(400, "This answer does not belong to the login that is waiting.");
    }
    answer.resolve(url.searchParams);
    const isRefused = url.searchParams.has("error");
    return end(200, isRefused ? "The login was refused." : "Logged in. You can close this page.");
  });
  const wanted = given?.port ? Number(given.port) : (options.port ?? 0);
  await listen(server, wanted, host);
  const { port } = server.address() as AddressInfo;
  return {
    redirectUrl: redirectOf(given, port),
    answer: answer.promise,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function redirectOf(given: URL | undefined, port: number): string {
  if (given === undefined) return `http://127.0.0.1:${port}/callback`;
  // Registered URLs are used unchanged if they name a port.
  if (given.port !== "") return given.href;
  const url = new URL(given);
  url.port = String(port);
  return url.href;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
}
