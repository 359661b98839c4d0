import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { now } from "./clock.ts";

/** A reply: the deltas of a text (optionally at a given pace), the deltas of a call's arguments, or many calls. */
export type Reply =
  | {
      readonly text: Iterable<string>;
      /** The pause after each write. */
      readonly pauseMs?: number;
      /** Default: 4, because a network delivers a few at a time, neither one nor all. */
      readonly eventsPerWrite?: number;
    }
  | { readonly tool: string; readonly argumentDeltas: Iterable<string> }
  | { readonly calls: readonly ToolCall[] };

/** A call of a tool among several. */
export interface ToolCall {
  readonly tool: string;
  readonly arguments: object;
}

/** When a request arrived and when its reply was sent, in milliseconds of `now()`. */
export interface Exchange {
  /** When the request had arrived completely. */
  readonly arrived: number;
  /** The size of the request's body. */
  readonly bytes: number;
  /** When the first delta was written. */
  firstDelta?: number;
  /** When the last byte was written. */
  ended?: number;
}

const EVENTS_PER_WRITE = 4;

/** A chat completions endpoint that sends the given replies as fast as they are read. */
export class ModelServer implements AsyncDisposable {
  /** The replies to send, in this order; later requests get a short text. */
  replies: Reply[] = [];
  readonly exchanges: Exchange[] = [];
  lastBody = Buffer.alloc(0);
  #gate: Promise<void> | undefined;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    server.#server.keepAliveTimeout = 60_000;
    await once(server.#server.listen(0, "127.0.0.1"), "listening");
    return server;
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/v1`;
  }

  /** Holds back the short text until the returned function is called. */
  holdBack(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.lastBody = Buffer.concat(chunks);
    const exchange: Exchange = { arrived: now(), bytes: this.lastBody.length };
    this.exchanges.push(exchange);
    const given = this.replies.shift();
    if (given === undefined) await this.#gate;
    const reply = given ?? { text: ["done"] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.socket?.setNoDelay(true);
    await send(reply, response, exchange);
    exchange.ended = now();
  }
}

async function send(reply: Reply, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { pauseMs, eventsPerWrite = EVENTS_PER_WRITE } = "text" in reply ? reply : {};
  let batch = "";
  let count = 0;
  for (const choice of choices(reply)) {
    batch += event({ choices: [{ index: 0, ...choice }] });
    count += 1;
    if (count % eventsPerWrite !== 0) continue;
    exchange.firstDelta ??= now();
    if (!response.write(batch)) await once(response, "drain");
    // The host has aborted the reply.
    if (response.destroyed) return;
    batch = "";
    if (pauseMs !== undefined) await sleep(pauseMs);
  }
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  response.end(`${batch}${event({ choices: [], usage })}data: [DONE]\n\n`);
}

function* choices(reply: Reply): Generator<object> {
  const content = (delta: object) => ({ delta, finish_reason: null });
  if ("text" in reply) {
    for (const text of reply.text) yield content({ content: text });
    yield { delta: {}, finish_reason: "stop" };
    return;
  }
  const calls =
    "calls" in reply
      ? reply.calls.map(({ tool, arguments: given }) => ({ tool, pieces: [JSON.stringify(given)] }))
      : [{ tool: reply.tool, pieces: reply.argumentDeltas }];
  for (const [index, { tool, pieces }] of calls.entries()) {
    const call = { index, id: `call_${Date.now()}_${Math.random()}`, type: "function" };
    yield content({ tool_calls: [{ ...call, function: { name: tool, arguments: "" } }] });
    for (const piece of pieces) {
      yield content({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield { delta: {}, finish_reason: "tool_calls" };
}

function event(chunk: object): string {
  const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "bench" };
  return `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`;
}
