import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_MAX_LINE_BYTES } from "@tau-agent/rpc-protocol";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { refusalOf } from "./access.ts";
import { serveEvents, serveIsolatedEvents } from "./event-stream.ts";
import { answerOne } from "./one-command.ts";
import type { PortParts } from "./port-parts.ts";

/** How long a page may keep what it learned about access. */
const PREFLIGHT_SECONDS = "600";

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

export class HttpRoutes {
  readonly #parts: PortParts;

  constructor(parts: PortParts) {
    this.#parts = parts;
  }

  /** Answers a request; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("X-Content-Type-Options", "nosniff");
    try {
      await this.#route({ request, response });
    } catch {
      if (response.headersSent) response.destroy();
      else fail(response, 500, "The request could not be handled");
    }
  }

  async #route(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const { setup, access } = this.#parts;
    const { pathname } = new URL(request.url ?? "/", "http://host");
    if (pathname === "/healthz") return tell(response, 200, { status: "ok" });
    if (pathname === "/readyz") {
      const isReady = !setup.pool.isDraining;
      return tell(response, isReady ? 200 : 503, { status: isReady ? "ready" : "draining" });
    }
    const [, events] = /^\/sessions\/([^/]+)\/events$/.exec(pathname) ?? [];
    const { origin } = request.headers;
    if (origin !== undefined && access.origins.includes(origin)) {
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Vary", "Origin");
      if (request.method === "OPTIONS") return allow(response);
    }
    const isEvents = events !== undefined && request.method === "GET";
    const refusal = refusalOf(request, access, { takesQuery: isEvents });
    if (refusal !== undefined) {
      if (refusal.status === 401) response.setHeader("WWW-Authenticate", "Bearer");
      return fail(response, refusal.status, refusal.reason);
    }
    if (events !== undefined) return this.#events(exchange, decodeURIComponent(events));
    if (pathname === "/rpc") return this.#command(exchange);
    fail(response, 404, "There is nothing here; see /rpc and /sessions/<sessionId>/events");
  }

  #events({ request, response }: Exchange, sessionId: string): void {
    if (request.method !== "GET") {
      wrongMethod(response, "GET");
      return;
    }
    const { setup, pingMs, open } = this.#parts;
    const isolated = setup.pool.isolated(sessionId);
    if (isolated !== undefined && !isolated.isClosing) {
      const options = { request, response, session: isolated, pingMs };
      const connection = serveIsolatedEvents(options, () => open.delete(connection));
      open.add(connection);
      return;
    }
    const hosted = setup.pool.get(sessionId);
    if (hosted === undefined || hosted.isClosing) {
      fail(response, 404, `There is no session ${sessionId}`);
      return;
    }
    const connection = serveEvents({ request, response, hosted, setup, pingMs }, () =>
      open.delete(connection),
    );
    open.add(connection);
  }

  async #command({ request, response }: Exchange): Promise<void> {
    if (request.method !== "POST") return wrongMethod(response, "POST");
    const type = request.headers["content-type"] ?? "";
    if (!/^application\/json *(;|$)/i.test(type)) {
      return fail(response, 415, "Send the command as application/json");
    }
    const body = await readBody(request);
    if (body === undefined) {
      response.setHeader("Connection", "close");
      return fail(response, 413, `A command has at most ${DEFAULT_MAX_LINE_BYTES} bytes`);
    }
    if (parseObject(body) === undefined)
      return fail(response, 400, "The body is not a JSON object");
    const answer = await answerOne(body, this.#parts.setup);
    // An accepted answer to a host request has no response.
    if (answer === undefined) return void response.writeHead(204).end();
    response.writeHead(200, { "Content-Type": "application/json" }).end(answer);
  }
}

/** The body; undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > DEFAULT_MAX_LINE_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function allow(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  response.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID");
  response.setHeader("Access-Control-Max-Age", PREFLIGHT_SECONDS);
  response.writeHead(204).end();
}

function wrongMethod(response: ServerResponse, method: string): void {
  response.setHeader("Allow", `${method}, OPTIONS`);
  fail(response, 405, `Use ${method}`);
}

function fail(response: ServerResponse, status: number, error: string): void {
  tell(response, status, { error });
}

function tell(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}
