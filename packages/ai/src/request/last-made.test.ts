import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { createStream } from "../stream.ts";
import { LastMade } from "./last-made.ts";

describe("LastMade", () => {
  it("makes anew what is made from something else, and after a failure", async () => {
    const last = new LastMade();
    const made: string[] = [];
    const get = (...parts: [string, ...unknown[]]) =>
      last.get(parts, async () => {
        if (parts[1] === "bad") throw new TypeError("bad");
        made.push(parts.join());
        return parts.join();
      });
    expect(await get("a", 1)).toBe("a,1");
    expect(await get("a", 1)).toBe("a,1");
    expect(await get("a", 2)).toBe("a,2");
    await expect(get("a", "bad")).rejects.toThrow("bad");
    await expect(get("a", "bad")).rejects.toThrow("bad");
    expect(await get("a", 2)).toBe("a,2");
    expect(await get("a", 2, undefined)).toBe("a,2,");
    expect(made).toEqual(["a,1", "a,2", "a,2,"]);
  });
});

describe("one stream function", () => {
  const apis = ["anthropic-messages", "openai-completions", "openai-responses"] as const;
  it.each([...apis, "google-generative-ai"])(
    "sends each request with its own key, headers and server: %s",
    async (api) => {
      const sent: string[] = [];
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const headers = new Headers(init?.headers);
        const key = ["x-goog-api-key", "x-api-key", "authorization"]
          .map((name) => headers.get(name)?.replace("Bearer ", ""))
          .find((value) => value !== undefined);
        sent.push(`${url.host} ${key} ${headers.get("x-own")}`);
        return Response.json({ error: { message: "no" } }, { status: 400 });
      };
      const stream = createStream();
      const ask = async (host: string, apiKey: string, own: string): Promise<void> => {
        const model = {
          ...{ id: "m", name: "M", api, provider: "p", baseUrl: `http://${host}/v1` },
          ...{ reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100 },
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        } satisfies Model;
        const context = { messages: [{ role: "user" as const, content: "hi", timestamp: 1 }] };
        const headers = { "x-own": own };
        for await (const _ of stream(model, context, { apiKey, headers, fetch }));
      };
      await ask("one.invalid", "k1", "a");
      await ask("one.invalid", "k1", "a");
      await ask("one.invalid", "k2", "a");
      await ask("two.invalid", "k2", "a");
      await Promise.all([ask("two.invalid", "k2", "b"), ask("two.invalid", "k1", "b")]);
      expect([...sent.slice(0, 4), ...sent.slice(4).sort()]).toEqual([
        "one.invalid k1 a",
        "one.invalid k1 a",
        "one.invalid k2 a",
        "two.invalid k2 a",
        "two.invalid k1 b",
        "two.invalid k2 b",
      ]);
    },
  );
});
