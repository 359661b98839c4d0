import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { createStream } from "./stream.ts";
import { scriptedModel } from "./testing/index.ts";
import { Connections } from "./transport/connections.ts";

const words = Array.from({ length: 40 }, (_, count) => `word ${count} `);

/** A server of chat completions that sends a word every 5 ms, and never ends the replies at `/open`. */
async function serve(): Promise<string> {
  const server = createServer(async (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("makes fewer events of each reply while a hundred others stream over shared connections", async () => {
  const server = await serve();
  const connections = new Connections();
  const controller = new AbortController();

  /** The deltas of a reply; each session has its own function. */
  async function deltasOf(path: string, onDelta = () => {}): Promise<string[]> {
    const model = { ...scriptedModel(), api: "openai-completions", baseUrl: `${server}/${path}` };
    const messages = [{ role: "user" as const, content: "Go on.", timestamp: 0 }];
    const { signal } = controller;
    const deltas: string[] = [];
    for await (const event of createStream({ connections })(model, { messages }, { signal })) {
      if (event.type !== "text_delta") continue;
      deltas.push(event.delta);
      onDelta();
    }
    return deltas;
  }

  expect(await deltasOf("alone")).toEqual(words);
  const others = Array.from({ length: 100 }, () => {
    const begun = Promise.withResolvers<void>();
    return { begun: begun.promise, ended: deltasOf("open", begun.resolve) };
  });
  await Promise.all(others.map(({ begun }) => begun));
  const asked = performance.now();
  const among = await deltasOf("among");
  expect(among.join("")).toBe(words.join(""));
  expect(among.length).toBeLessThan((performance.now() - asked) / 40 + 3);

  controller.abort();
  await Promise.all(others.map(({ ended }) => ended));
});
