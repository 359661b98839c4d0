import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** One reply: the deltas of a text, at a given pace or not, or those of a tool call's arguments. */
export type Reply =
  | { readonly text: Iterable<string>; readonly pauseMs?: number }
  | { readonly tool: string; readonly argumentDeltas: Iterable<string> };

/** Events per write: a network delivers a few at a time, not one and not all. */
const EVENTS_PER_WRITE = 4;

/** A chat completions endpoint that sends the given replies as fast as they are read. */
export class ModelServer implements AsyncDisposable {
  /** The replies to send, in this order; after them a short text. */
  replies: Reply[] = [];
  /** When each request had arrived completely (ms). */
  readonly requestTimes: number[] = [];
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
    for await (const _ of request);
    this.requestTimes.push(performance.now());
    const given = this.replies.shift();
    if (given === undefined) await this.#gate;
    const reply = given ?? { text: ["done"] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.socket?.setNoDelay(true);
    let batch = "";
    let count = 0;
    for (const choice of choices(reply)) {
      batch += event({ choices: [{ index: 0, ...choice }] });
      count += 1;
      if (count % EVENTS_PER_WRITE !== 0) continue;
      if (!response.write(batch)) await once(response, "drain");
      batch = "";
      if ("text" in reply && reply.pauseMs !== undefined) await sleep(reply.pauseMs);
    }
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    response.end(`${batch}${event({ choices: [], usage })}data: [DONE]\n\n`);
  }
}

function* choices(reply: Reply): Generator<object> {
  const content = (delta: object) => ({ delta, finish_reason: null });
  if ("text" in reply) {
    for (const text of reply.text) yield content({ content: text });
    yield { delta: {}, finish_reason: "stop" };
    return;
  }
  const call = { index: 0, id: `call_${Date.now()}_${Math.random()}`, type: "function" };
  yield content({ tool_calls: [{ ...call, function: { name: reply.tool, arguments: "" } }] });
  for (const piece of reply.argumentDeltas) {
    yield content({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }
  yield { delta: {}, finish_reason: "tool_calls" };
}

function event(chunk: object): string {
  const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "bench" };
  return `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`;
}
