import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { StreamOptions } from "../provider.ts";
import { createStream } from "../stream.ts";
import { GrowingJson } from "./growing-json.ts";

const item = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.constant("\ud800 é 語"));

describe("GrowingJson", () => {
  it("writes the same text as JSON.stringify, however a list differs from the previous one", () => {
    const change = fc.record({ keep: fc.nat(12), copies: fc.boolean(), more: fc.array(item) });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const json = new GrowingJson();
        let items: unknown[] = [];
        for (const { keep, copies, more } of changes) {
          const kept = items.slice(0, keep);
          items = [...(copies ? structuredClone(kept) : kept), ...more];
          const before = { model: "m".repeat(keep), none: undefined };
          const tools = kept.map((value) => ({ function: { value }, strict: keep > 6 }));
          const after = { "ö\n": [keep], no: () => 1, tools };
          for (const request of [{ items }, { ...before, items }, { ...before, items, ...after }]) {
            expect(json.of(request, "items")).toBe(JSON.stringify(request));
          }
        }
      }),
    );
  });

  it("writes everything again once a garbage collection has taken the last request", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const json = new GrowingJson();
    let count = 0;
    const item = { toJSON: () => ++count };
    json.of({ items: [item] }, "items");
    await vi.waitFor(
      () => {
        collect();
        expect(json.of({ items: [item] }, "items")).toBe('{"items":[2]}');
      },
      { timeout: 60_000, interval: 0 },
    );
  });

  it("does not serialize unchanged tools twice, although their list is new", () => {
    const json = new GrowingJson();
    let count = 0;
    const tool = { toJSON: () => ++count };
    const first = json.of({ items: [], tools: [tool] }, "items");
    expect(json.of({ items: [], tools: [tool] }, "items")).toBe(first);
    expect(json.of({ items: [], tools: [tool, tool] }, "items")).toContain('"tools":[2,3]');
  });

  it("does not serialize an unchanged item twice", () => {
    const json = new GrowingJson();
    let count = 0;
    const counted = (name: string) => ({
      toJSON: () => {
        count += 1;
        return name;
      },
    });
    const items = Array.from({ length: 100 }, (_, index) => counted(`${index}`));
    json.of({ items: items.slice(0, 98) }, "items");
    expect(count).toBe(98);
    const names = Array.from({ length: 100 }, (_, at) => `${at}`);
    expect(json.of({ n: 1, items }, "items")).toBe(JSON.stringify({ n: 1, items: names }));
    expect(count).toBe(100);
  });

  it("continues after an item that cannot be serialized", () => {
    const json = new GrowingJson();
    const of = (items: unknown[]): string => json.of({ items }, "items");
    expect(of(["a", "b"])).toBe('{"items":["a","b"]}');
    expect(() => of(["a", 1n])).toThrow(TypeError);
    expect(of(["a", "b", "c"])).toBe('{"items":["a","b","c"]}');
  });

  it("writes a list with images without keeping it in memory", () => {
    const json = new GrowingJson();
    const image = "A".repeat(5 * 1024 * 1024);
    for (const items of [[image], [image, image], [image, image, "b"], [image]]) {
      expect(json.of({ items }, "items") === JSON.stringify({ items })).toBe(true);
    }
  });
});

describe("the requests to a vendor turn by turn", () => {
  const apis = ["anthropic-messages", "openai-completions", "openai-responses"] as const;
  const call = (turn: number): LlmMessage[] => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${turn}`, name: "read", arguments: { path: "ü\ud800" } }],
      api: "a",
      provider: "p",
      model: "m",
      usage: {
        ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      },
      stopReason: "toolUse",
      timestamp: turn,
    },
    {
      role: "toolResult",
      toolCallId: `c${turn}`,
      toolName: "read",
      content: [{ type: "text", text: `text ${turn}` }],
      isError: false,
      timestamp: turn,
    },
  ];

  it.each(apis)("have a body identical to the request's JSON: %s", async (api) => {
    const model = {
      ...{ id: "m", name: "M", api, provider: "p", baseUrl: "http://one.invalid/v1" },
      ...{ reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      compat: { cacheControlFormat: "anthropic" },
    } satisfies Model;
    const sent: unknown[] = [];
    const payloads: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      sent.push([new Headers(init?.headers).get("content-type"), init?.body]);
      return Response.json({ error: { message: "no" } }, { status: 400 });
    };
    const onPayload = (payload: unknown): void => {
      payloads.push(["application/json", JSON.stringify(payload)]);
    };
    const stream = createStream();
    const ask = async (messages: LlmMessage[], options: StreamOptions): Promise<void> => {
      const context = { systemPrompt: "Be brief.", messages };
      for await (const _ of stream(model, context, { apiKey: "k", fetch, ...options }));
    };
    const messages: LlmMessage[] = [{ role: "user", content: "hi", timestamp: 1 }];
    for (let turn = 0; turn < 5; turn++) {
      await ask(messages, {});
      await ask(messages, { onPayload });
      messages.push(...call(turn));
    }
    const [kept, seen] = [sent.filter((_, at) => at % 2 === 0), sent.filter((_, at) => at % 2)];
    expect(kept).toEqual(payloads);
    expect(seen).toEqual(payloads);
  });

  it("include changes that an extension made to an earlier payload", async () => {
    const system = { role: "system", content: "one" };
    const bodies: string[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      bodies.push(String(init?.body));
      return Response.json({ error: { message: "no" } }, { status: 400 });
    };
    const model = {
      ...{ id: "m", name: "M", api: "openai-completions", provider: "p" },
      ...{ baseUrl: "http://one.invalid/v1", reasoning: false, input: ["text"] },
      ...{ contextWindow: 1000, maxTokens: 100 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    } satisfies Model;
    const onPayload = (payload: unknown): unknown => ({ ...Object(payload), messages: [system] });
    const stream = createStream();
    const context = { messages: [{ role: "user" as const, content: "hi", timestamp: 1 }] };
    for (const content of ["one", "two"]) {
      system.content = content;
      for await (const _ of stream(model, context, { apiKey: "k", fetch, onPayload }));
    }
    expect(bodies.map((body) => JSON.parse(body).messages[0].content)).toEqual(["one", "two"]);
  });
});
