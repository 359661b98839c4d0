import { expect, it } from "vitest";
import { serveWords, words } from "./__fixtures__/words-server.ts";
import { createStream } from "./stream.ts";
import { scriptedModel } from "./testing/index.ts";
import { Connections } from "./transport/connections.ts";

it("makes fewer events of each reply while a hundred others stream over shared connections", async () => {
  const server = await serveWords();
  const connections = new Connections();
  const controller = new AbortController();

  /** The deltas of a reply; each session has its own function. */
  async function deltasOf(path: string, onDelta = () => {}): Promise<string[]> {
    const model = {
      ...scriptedModel(),
      api: "openai-completions",
      baseUrl: `${server.url}/${path}`,
    };
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
