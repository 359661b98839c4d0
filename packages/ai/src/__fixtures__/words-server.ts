import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** What a reply of the server consists of, a delta each. */
export const words = Array.from({ length: 40 }, (_, count) => `word ${count} `);

export interface WordsServer {
  readonly url: string;
  /** Resolves once a client has left a reply. */
  readonly left: Promise<void>;
}

/** A server of chat completions that sends a word every 5 ms, and never ends the replies at `/open`. */
export async function serveWords(): Promise<WordsServer> {
  const left = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.once("close", () => {
      if (!response.writableFinished) left.resolve();
    });
    const send = (choice: object) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    for (const content of words) {
      send({ delta: { content } });
      await sleep(5);
    }
    if (request.url?.startsWith("/open")) return;
    send({ delta: {}, finish_reason: "stop" });
    response.end("data: [DONE]\n\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, left: left.promise };
}
