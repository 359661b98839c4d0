import type { IncomingMessage, ServerResponse } from "node:http";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { attempt } from "@tau-agent/system";
import { isMisdirected, refusalOf } from "./access.ts";
import type { DoorBody, Doors } from "./doors/index.ts";
import { serveEvents, serveIsolatedEvents } from "./event-stream.ts";
import { fail, readObject, tell, wrongMethod } from "./http-answers.ts";
import { answerOne } from "./one-command.ts";
import type { PortParts } from "./port-parts.ts";

/** How long a page may cache the CORS response. */
const PREFLIGHT_SECONDS = "600";

type Door = "events" | "prompt" | "stream";
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

export class HttpRoutes {
  readonly #parts: PortParts;
  #doors: Doors | undefined;

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
    if (isMisdirected(request, access)) {
      return fail(response, 421, "This address has no such host; see --console-host");
    }
    const address = URL.parse(request.url ?? "/", "http://host");
    if (address === null) return fail(response, 400, "The address is malformed");
    const { pathname, searchParams } = address;
    if (pathname === "/healthz") return tell(response, 200, { status: "ok" });
    if (pathname === "/readyz") {
      const isReady = !setup.pool.isDraining;
      return tell(response, isReady ? 200 : 503, { status: isReady ? "ready" : "draining" });
    }
    const [, handle, place] = /^\/sessions\/([^/]+)\/(events|prompt|stream)$/.exec(pathname) ?? [];
    const { origin } = request.headers;
    if (origin !== undefined && access.allows(origin, request)) {
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Vary", "Origin");
      if (request.method === "OPTIONS") return allow(response);
    }
    if (access.console !== undefined && pathname.startsWith("/console")) {
      return this.#console(exchange, pathname);
    }
    const isEvents = place === "events" && request.method === "GET";
    const refusal = refusalOf(request, access, { takesQuery: isEvents });
    if (refusal !== undefined) {
      if (refusal.status === 401) response.setHeader("WWW-Authenticate", "Bearer");
      return fail(response, refusal.status, refusal.reason);
    }
    const isRaw = place === "events" && !searchParams.has("format");
    if (handle !== undefined) {
      const sessionId = attempt(() => decodeURIComponent(handle)) ?? handle;
      if (isRaw) return this.#events(exchange, sessionId);
      return this.#door(exchange, sessionId, place as Door);
    }
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

  async #console({ request, response }: Exchange, pathname: string): Promise<void> {
    const { access } = this.#parts;
    const { isOfConsole, serveConsole } = await import("./console/serve-console.ts");
    const { origin } = request.headers;
    if (access.console === undefined || !isOfConsole(pathname)) {
      return fail(response, 404, "There is nothing here; see /console");
    }
    if (origin !== undefined && !access.console.hosts.isOwn(origin, request.headers.host)) {
      return fail(response, 403, `Origin ${origin} is not allowed`);
    }
    const { codes } = access.console;
    await serveConsole(request, response, { pathname, codes });
  }

  /** A session in the format of another client. */
  async #door({ request, response }: Exchange, sessionId: string, name: Door): Promise<void> {
    const { searchParams } = new URL(request.url ?? "/", "http://host");
    const { Doors, doorFormats, formatNames, readDoorBody } = await import("./doors/index.ts");
    const named = searchParams.get("format") ?? "ai-sdk";
    const format = Object.hasOwn(doorFormats, named) ? doorFormats[named] : undefined;
    if (format === undefined) return fail(response, 400, `format: expected ${formatNames}`);
    this.#doors ??= new Doors();
    const exchange = { request, response, sessionId, format, parts: this.#parts };
    if (name !== "prompt") {
      if (request.method !== "GET") return wrongMethod(response, "GET");
      return this.#doors[name](exchange);
    }
    const body = await readObject(request, response);
    if (body === undefined) return;
    let read: DoorBody;
    try {
      read = readDoorBody(body.object);
    } catch (error) {
      return fail(response, 400, errorMessage(error));
    }
    await this.#doors.prompt(exchange, read);
  }

  async #command({ request, response }: Exchange): Promise<void> {
    const body = await readObject(request, response);
    if (body === undefined) return;
    const answer = await answerOne(body.text, this.#parts.setup);
    // An accepted answer to a host request has no response.
    if (answer === undefined) return void response.writeHead(204).end();
    response.writeHead(200, { "Content-Type": "application/json" }).end(answer);
  }
}

function allow(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  response.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID");
  response.setHeader("Access-Control-Max-Age", PREFLIGHT_SECONDS);
  response.writeHead(204).end();
}
