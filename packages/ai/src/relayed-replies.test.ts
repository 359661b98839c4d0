import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import { expect, it, onTestFinished } from "vitest";
import type { OnReplyEvent } from "./reply/reply-output.ts";
import { createStream } from "./stream.ts";
import { scriptedModel } from "./testing/index.ts";
import { Connections } from "./transport/connections.ts";

const words = Array.from({ length: 20 }, (_, count) => `word ${count} `);

interface Server {
  readonly url: string;
  /** Resolves once a connection has been closed by the client. */
  readonly left: Promise<unknown>;
}

/** A server of chat completions that sends a word every 2 ms. */
async function serve(): Promise<Server> {
  const left = Promise.withResolvers<void>();
  const server = createServer(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.once("close", () => {
      if (!response.writableFinished) left.resolve();
    });
    const send = (choice: object) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    for (const content of words) {
      send({ delta: { content } });
      await sleep(2);
    }
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

function ask({ url }: Server, connections = new Connections()) {
  const model = { ...scriptedModel(), api: "openai-completions", baseUrl: url };
  const messages = [{ role: "user" as const, content: "Go on.", timestamp: 0 }];
  return createStream({ connections })(model, { messages }, {});
}

const textOf = (events: readonly AssistantMessageEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");

it("passes on the events that iterating returns, each once the last is handled", async () => {
  const server = await serve();
  const events: AssistantMessageEvent[] = [];
  let isBusy = false;
  const result = await ask(server).relay?.(async (event) => {
    expect(isBusy).toBe(false);
    isBusy = true;
    events.push(event);
    await sleep(event.type === "text_start" ? 20 : 1);
    isBusy = false;
  });
  expect(textOf(events)).toBe(words.join(""));
  expect(events.at(-1)).toEqual({ type: "done", reason: "stop", message: result?.message });

  const iterated: string[] = [];
  for await (const { type } of ask(server)) iterated.push(type);
  expect([...new Set(events.map(({ type }) => type))]).toEqual([...new Set(iterated)]);
});

it.each<[string, () => ReturnType<OnReplyEvent>]>([
  [
    "throws",
    () => {
      throw new Error("No more");
    },
  ],
  ["rejects", () => Promise.reject(new Error("No more"))],
])("leaves the reply if its reader %s, and calls it no more", async (_, fail) => {
  const server = await serve();
  let calls = 0;
  const relayed = ask(server).relay?.((event) => {
    calls += 1;
    return event.type === "text_delta" ? fail() : undefined;
  });
  await expect(relayed).rejects.toThrow("No more");
  expect(calls).toBe(3);
  await server.left;
});

it.each([3, 120])(
  "keeps the async context of each of %i replies that share connections",
  async (count) => {
    const server = await serve();
    const connections = new Connections();
    const sessions = new AsyncLocalStorage<number>();
    const seen = async (session: number): Promise<Set<number | undefined>> => {
      const stores = new Set<number | undefined>();
      await sessions.run(session, () =>
        ask(server, connections).relay?.(() => void stores.add(sessions.getStore())),
      );
      return stores;
    };
    const all = Array.from({ length: count }, (_, session) => session);
    for (let round = 0; round < 2; round += 1) {
      const stores = await Promise.all(all.map(seen));
      expect(stores).toEqual(all.map((session) => new Set([session])));
    }
  },
);
