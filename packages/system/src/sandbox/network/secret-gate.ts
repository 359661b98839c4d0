import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type SecureContext, TLSSocket } from "node:tls";
import { plainName } from "../policy/domain-list.ts";
import type { Authority } from "./authority.ts";
import { type ClosedPorts, closedLookup, isClosed } from "./closed-lookup.ts";
import { hopHeaders } from "./hop-headers.ts";
import { scrubStream, scrubText } from "./scrub.ts";
import {
  fittingSecrets,
  headersWith,
  type Refusal,
  refusalOf,
  type Target,
} from "./secret-request.ts";
import type { HeldSecret, SessionSecrets } from "./session-secrets.ts";

/** Request bodies up to this size are kept, to send them again with a new value. */
const MAX_KEPT_BYTES = 1024 * 1024;
const HANDSHAKE_MS = 30_000;

export interface SecretGateOptions {
  readonly secrets: SessionSecrets;
  readonly authority: Authority;
  /** The authorities to trust for servers; Node's own by default. */
  readonly upstreamAuthorities?: readonly string[] | undefined;
  readonly closedPorts: ClosedPorts;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly held: readonly HeldSecret[];
}

/** Ends TLS for the hosts of secrets, and inserts the values into requests to them. */
export class SecretGate {
  readonly #options: SecretGateOptions;
  readonly #targets = new WeakMap<object, Target>();
  readonly #server: Server;

  constructor(options: SecretGateOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.on("upgrade", (request, socket) => this.#refuseRaw(request, socket));
    this.#server.on("connect", (request, socket) => this.#refuseRaw(request, socket));
    this.#server.on("clientError", (_error, socket) => {
      // For example the preface of HTTP/2.
      if (socket.writable) end(socket, 400, "The sandbox's proxy takes HTTP/1.1 here.");
    });
  }

  /** Whether TLS to a host ends here. */
  serves(name: string, port: number): boolean {
    return this.#options.secrets.forHost(name, port).length > 0;
  }

  /** Whether a name is one of the hosts, to which nothing may be sent unencrypted. */
  isNamed(name: string): boolean {
    return this.#options.secrets.isNamed(name);
  }

  refused(text: string): void {
    this.#options.secrets.refused(text);
  }

  /** Takes over the connection of a client that was told it is connected. */
  async accept(client: Duplex, head: Buffer, given: Target): Promise<void> {
    const target = { host: plainName(given.host), port: given.port };
    const context = await this.#options.authority.contextFor(target.host);
    if (head.length > 0) client.unshift(head);
    const socket = new TLSSocket(client as never, {
      isServer: true,
      secureContext: context,
      ALPNProtocols: ["http/1.1"],
      SNICallback: (name, done) => done(...contextFor(name, target, context)),
    });
    const timer = setTimeout(() => socket.destroy(), HANDSHAKE_MS).unref();
    socket.on("error", () => client.destroy());
    socket.once("close", () => clearTimeout(timer));
    socket.once("secure", () => clearTimeout(timer));
    this.#targets.set(socket, target);
    this.#server.emit("connection", socket);
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const target = this.#targets.get(request.socket);
    if (target === undefined) {
      request.socket.destroy();
      return;
    }
    const refusal = refusalOf(request, target);
    if (refusal !== undefined) {
      this.#refuse(response, request, target, refusal);
      return;
    }
    const all = this.#options.secrets.forHost(target.host, target.port);
    const held = fittingSecrets(request, all);
    if (held.length === 0) {
      const text = `${request.method} of this path is none of the requests that its secrets are for.`;
      this.#refuse(response, request, target, { status: 403, text });
      return;
    }
    this.#pass({ request, response, target, held }).catch((error: unknown) => {
      const text = error instanceof Unreadable ? error.message : "The server cannot be reached.";
      if (response.headersSent) response.destroy();
      else answer(response, 502, text);
    });
  }

  async #pass(exchange: Exchange): Promise<void> {
    const { request, response, held } = exchange;
    const body = new KeptBody(request);
    const first = await this.#ask(exchange, body);
    if (first.statusCode !== 401 || !(await this.#hasOther(held)) || !(await body.isWhole())) {
      return this.#answer(first, request, response);
    }
    first.destroy();
    this.#answer(await this.#ask(exchange, body), request, response);
  }

  /** Whether a value that the server refused has changed by now. */
  async #hasOther(held: readonly HeldSecret[]): Promise<boolean> {
    const { secrets } = this.#options;
    const read = held.map((secret) => secrets.readAgain(secret).catch(() => false));
    return (await Promise.all(read)).includes(true);
  }

  async #ask({ request, response, target, held }: Exchange, body: KeptBody) {
    const { secrets, closedPorts, upstreamAuthorities } = this.#options;
    const headers = await headersWith(request, held, secrets).catch((error: Error) => {
      throw new Unreadable(error.message);
    });
    const { host, port } = target;
    return new Promise<IncomingMessage>((resolve, reject) => {
      const upstream = httpsRequest({
        host,
        port,
        path: request.url,
        method: request.method,
        headers,
        agent: false,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(upstreamAuthorities === undefined ? {} : { ca: [...upstreamAuthorities] }),
        lookup: closedLookup(port, closedPorts),
      });
      upstream.once("response", resolve);
      upstream.once("upgrade", (_answer, socket) => void socket.destroy());
      upstream.once("error", reject);
      upstream.once("close", () => reject(new Error("closed")));
      upstream.once("socket", (socket) => {
        socket.once("connect", () => {
          const { remoteAddress = "" } = socket;
          if (isClosed(remoteAddress, port, closedPorts)) upstream.destroy(new Error("closed"));
        });
      });
      response.once("close", () => upstream.destroy());
      body.pipe(upstream);
    });
  }

  #answer(found: IncomingMessage, request: IncomingMessage, response: ServerResponse): void {
    const { statusCode = 502, rawHeaders } = found;
    const encoding = found.headers["content-encoding"] ?? "identity";
    if (encoding.toLowerCase() !== "identity" || statusCode === 206) {
      found.destroy();
      answer(response, 502, `The server answered with ${encoding}, which hides what it says.`);
      return;
    }
    const replacements = () => this.#options.secrets.replacements;
    const hasBody = request.method !== "HEAD" && statusCode !== 204 && statusCode !== 304;
    const headers: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
      const plain = name.toLowerCase();
      // A scrubbed body has a different length.
      if (hopHeaders.has(plain) || (hasBody && plain === "content-length")) continue;
      if (scrubText(name, replacements()) !== name) continue;
      headers.push(name, scrubText(value, replacements()));
    }
    // The server's reason phrase may contain anything.
    response.writeHead(statusCode, headers);
    if (!hasBody) {
      found.resume().once("end", () => response.end());
      return;
    }
    found.once("error", () => response.destroy());
    found.once("close", () => found.complete || response.destroy());
    found.pipe(scrubStream(replacements)).pipe(response);
  }

  #refuse(
    response: ServerResponse,
    { method }: IncomingMessage,
    { host, port }: Target,
    { status, text }: Refusal,
  ): void {
    this.refused(`A ${method} request to ${host}:${port} was refused (${status}): ${text}`);
    response.shouldKeepAlive = false;
    answer(response, status, text);
  }

  #refuseRaw(request: IncomingMessage, socket: Duplex): void {
    const target = this.#targets.get(request.socket) ?? { host: "", port: 0 };
    const { status, text } = refusalOf(request, target) ?? { status: 501, text: "Not passed on." };
    this.refused(`A request to ${target.host}:${target.port} was refused (${status}): ${text}`);
    end(socket, status, text);
  }
}

class Unreadable extends Error {}

/** A request's body, kept while it passes through if it is small. */
class KeptBody {
  readonly #request: IncomingMessage;
  #chunks: Buffer[] | undefined = [];
  #size = 0;
  #isSent = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  pipe(into: NodeJS.WritableStream): void {
    if (this.#isSent) {
      into.end(Buffer.concat(this.#chunks ?? []));
      return;
    }
    this.#isSent = true;
    this.#request.on("data", (chunk: Buffer) => {
      this.#size += chunk.length;
      if (this.#size > MAX_KEPT_BYTES) this.#chunks = undefined;
      this.#chunks?.push(chunk);
    });
    this.#request.pipe(into);
  }

  /** Whether the whole body is available to be sent again. */
  async isWhole(): Promise<boolean> {
    if (!this.#request.complete || !this.#request.readableEnded) return false;
    return this.#chunks !== undefined;
  }
}

function contextFor(
  name: string,
  { host }: Target,
  context: SecureContext,
): [Error | null, SecureContext | undefined] {
  return plainName(name) === host ? [null, context] : [new Error("another host"), undefined];
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
}

function end(socket: Duplex, status: number, text: string): void {
  const head = `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n`;
  socket.end(`${head}${text}\n`);
}
