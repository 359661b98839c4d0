import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import { expect, it } from "vitest";
import { serveWords, type WordsServer, words } from "./__fixtures__/words-server.ts";
import type { OnReplyEvent } from "./reply/reply-output.ts";
import { createStream } from "./stream.ts";
import { scriptedModel } from "./testing/index.ts";
import { Connections } from "./transport/connections.ts";

function ask({ url }: WordsServer, connections = new Connections()) {
  const model = { ...scriptedModel(), api: "openai-completions", baseUrl: url };
  const messages = [{ role: "user" as const, content: "Go on.", timestamp: 0 }];
  return createStream({ connections })(model, { messages }, {});
}

const textOf = (events: readonly AssistantMessageEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");

it("passes on the events that iterating returns, each once the last is handled", async () => {
  const server = await serveWords();
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
  const server = await serveWords();
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
    const server = await serveWords();
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
