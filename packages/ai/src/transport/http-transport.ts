import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { urlToHttpOptions } from "node:url";
import { HeaderList } from "./header-list.ts";
import { type FollowedReply, ReadPace } from "./read-pace.ts";
import { type ByteSource, makeResponse } from "./reply.ts";

type Fetch = typeof globalThis.fetch;

/** Node's module for one protocol, with the open connections. */
interface Client {
  readonly request: (options: RequestOptions) => ClientRequest;
  readonly agent: Agent;
}

/** Where a request goes. */
interface Target {
  readonly client: Client;
  /** The parts of the URL. */
  readonly place: RequestOptions;
}

/** The time limit for connecting; it is the only way to notice a host that drops packets. */
const connectMs = 10_000;

/** How much of a reply is buffered for a slow reader before the server has to wait. */
const mostWaitingBytes = 64 * 1024;

/** Idle connections are closed before servers close them, because a request could collide with the close. */
const idleMs = 4_000;

/**
 * `fetch` over `node:http`. Node's own `fetch` loads more than the rest of a host and handles each piece of a
 * reply in many steps (rows "RSS after one prompt", "one delta a millisecond"). Like it, this keeps
 * connections open for the next request. Requests with bodies other than text are passed to Node's `fetch`.
 */
export class HttpTransport {
  readonly #clients = new Map<string, Client>();
  readonly #pace = new ReadPace();
  /** The last target: almost every request of a session goes to the same URL. */
  #last: { readonly url: string; readonly target: Target } | undefined;

  readonly fetch: Fetch = async (input, init = {}) => {
    const { body = null, signal } = init;
    const isPlain = typeof input === "string" || input instanceof URL;
    if (!isPlain || (body !== null && typeof body !== "string")) {
      return globalThis.fetch(input, init);
    }
    const target = this.#targetOf(String(input));
    signal?.throwIfAborted();
    return exchange(target, init, this.#pace);
  };

  /** Whether replies are so many that deltas of each gather before they are read. */
  get gathers(): boolean {
    return this.#pace.gathers;
  }

  #targetOf(url: string): Target {
    if (this.#last?.url !== url) {
      const parsed = new URL(url);
      const client = this.#clientFor(parsed.protocol);
      this.#last = { url, target: { client, place: urlToHttpOptions(parsed) } };
    }
    return this.#last.target;
  }

  #clientFor(protocol: string): Client {
    let client = this.#clients.get(protocol);
    if (client === undefined) {
      client = connect(protocol, this.#pace);
      this.#clients.set(protocol, client);
    }
    return client;
  }
}

/** The transport, unless the global `fetch` was replaced, which then takes precedence. */
export function defaultFetch(transport: HttpTransport): Fetch {
  return globalThis.fetch === nodeFetch ? transport.fetch : globalThis.fetch;
}

const nodeFetch = globalThis.fetch;

function connect(protocol: string, pace: ReadPace): Client {
  if (protocol !== "https:" && protocol !== "http:") {
    throw new TypeError("fetch failed", { cause: new Error(`unknown scheme ${protocol}`) });
  }
  // An import would evaluate every export, and one of them loads Node's `fetch`.
  const { request, Agent } = process.getBuiltinModule(
    protocol === "https:" ? "node:https" : "node:http",
  );
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  pace.applyTo(agent);
  return { request, agent };
}

function exchange({ client, place }: Target, init: RequestInit, pace: ReadPace): Promise<Response> {
  const { method = "GET", signal } = init;
  const given = new HeaderList(init.headers);
  if (!given.has("accept")) given.set("accept", "*/*");
  if (!given.has("accept-encoding")) given.set("accept-encoding", "gzip, deflate, br");
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(given);
    const { request, agent } = client;
    const sent = request({ ...place, method, agent, headers });
    // Destroyed without an error: a kept-alive connection has no listener for it.
    const abort = (): void => void sent.destroy();
    signal?.addEventListener("abort", abort, { once: true });
    sent.on("error", (cause) => {
      signal?.removeEventListener("abort", abort);
      reject(signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause }));
    });
    limitConnecting(sent);
    sent.once("response", (reply) => {
      const letGo = (): void => signal?.removeEventListener("abort", abort);
      reply.once("end", letGo).once("close", letGo);
      const followed = pace.follow(reply);
      openBody(reply).then((body) => {
        const { statusCode: status = 0, statusMessage: statusText = "" } = reply;
        const source = createBodySource(body, signal ?? undefined, followed);
        resolve(makeResponse({ status, statusText, headers: headersOf(reply), body: source }));
      }, reject);
    });
    const { body } = init;
    if (typeof body === "string") sent.end(body);
    else sent.end();
  });
}

function limitConnecting(sent: ClientRequest): void {
  sent.once("socket", (socket) => {
    if (!socket.connecting) return;
    const code = "ETIMEDOUT";
    const timer = setTimeout(() => {
      sent.destroy(Object.assign(new Error(`connect ${code} after ${connectMs} ms`), { code }));
    }, connectMs);
    const clear = (): void => clearTimeout(timer);
    socket.once("connect", clear).once("close", clear);
  });
}

function headersOf(reply: IncomingMessage): HeaderList {
  const headers = new HeaderList();
  for (const [name, values = []] of Object.entries(reply.headersDistinct)) {
    headers.set(name, values.join(", "));
  }
  return headers;
}

/** The decompressed body. */
async function openBody(reply: IncomingMessage): Promise<Readable> {
  const encoding = reply.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding === undefined || encoding === "identity") return reply;
  const zlib = await import("node:zlib");
  const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH: brotli } = zlib.constants;
  // Flushes each event as soon as its bytes have arrived, and does not treat a missing end as an error yet.
  const openers: Readonly<Record<string, () => import("node:stream").Transform>> = {
    gzip: () => zlib.createGunzip({ flush, finishFlush: flush }),
    "x-gzip": () => zlib.createGunzip({ flush, finishFlush: flush }),
    deflate: () => zlib.createInflate({ flush, finishFlush: flush }),
    br: () => zlib.createBrotliDecompress({ flush: brotli, finishFlush: brotli }),
  };
  const opened = openers[encoding]?.();
  if (opened === undefined) return reply;
  reply.on("error", (error) => opened.destroy(error));
  opened.once("close", () => reply.destroy());
  return reply.pipe(opened);
}

/**
 * Reads a stream piece by piece, without delay. Listening to `data` delivers pieces as they arrive; `read()`
 * would take a separate turn of the event loop for each (rows `many-sessions`).
 */
function createBodySource(
  stream: Readable,
  signal: AbortSignal | undefined,
  followed: FollowedReply,
): ByteSource {
  let arrived: Buffer[] = [];
  let size = 0;
  let asked: Parameters<ByteSource["read"]> | undefined;
  let hasEnded = stream.destroyed;
  let failure: Error | undefined;

  function answer(): void {
    if (asked === undefined || (arrived.length === 0 && !hasEnded)) return;
    const [resolve, reject] = asked;
    asked = undefined;
    const [first] = arrived;
    if (first !== undefined) {
      const value = arrived.length === 1 ? first : Buffer.concat(arrived, size);
      arrived = [];
      size = 0;
      if (stream.isPaused()) stream.resume();
      resolve({ done: false, value });
    } else if (signal?.aborted) reject(signal.reason);
    else if (failure === undefined) resolve({ done: true, value: undefined });
    else reject(new TypeError("terminated", { cause: failure }));
  }

  function end(): void {
    hasEnded = true;
    answer();
  }

  stream.on("data", (piece: Buffer) => {
    arrived.push(piece);
    size += piece.length;
    // One read has several chunks of a body, or several records of TLS, and each arrives by itself.
    followed(answer);
    if (size > mostWaitingBytes) stream.pause();
  });
  stream.on("end", end).on("close", end);
  stream.on("error", (error) => {
    failure = error;
    end();
  });
  return {
    read(...callbacks) {
      asked = callbacks;
      answer();
    },
    async return() {
      stream.destroy();
    },
  };
}
