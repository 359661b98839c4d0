import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInProviders } from "../providers.ts";
import { scriptedModel } from "../testing/index.ts";
import { fitContext } from "./history.ts";
import { limitImages } from "./limit-images.ts";
import { Memo } from "./memo.ts";

const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
const user = (images: number): LlmMessage => ({
  role: "user",
  content: [{ type: "text", text: "look" }, ...Array.from({ length: images }, () => image)],
  timestamp: 1,
});
const countOf = (messages: readonly LlmMessage[]) =>
  JSON.stringify(messages).split('"type":"image"').length - 1;

describe("a conversation with more images than a vendor accepts", () => {
  it("keeps the newest images and notes that there were others", () => {
    const messages = Array.from({ length: 11 }, () => user(1));
    const limited = limitImages(messages, { count: 8 }, new WeakMap());
    expect(limited.map((message) => countOf([message]))).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
    expect(JSON.stringify(limited[0])).toContain("an earlier image left out");
    expect(limitImages(messages.slice(0, 8), { count: 8 }, new WeakMap())).toEqual(
      messages.slice(0, 8),
    );
  });

  it.each([
    ["anthropic-messages", "anthropic", 100],
    ["openai-responses", "openai", 500],
    ["openai-completions", "mistral", 8],
    ["openai-completions", "groq", 5],
    ["openai-completions", "ollama", undefined],
  ])("sends over %s to %s at most %s images", async (api, provider, limit) => {
    const model = { ...scriptedModel(), api, provider, input: ["text" as const, "image" as const] };
    const imageLimits = (await builtInProviders[api]?.())?.imageLimits?.(model);
    expect(imageLimits?.count).toBe(limit);
    const memo = new Memo();
    const messages = Array.from({ length: 600 }, () => user(1));
    const first = fitContext(model, { messages }, { imageLimits }, memo);
    expect(countOf(first.messages)).toBeLessThanOrEqual(limit ?? 600);
    expect(countOf(first.messages)).toBeGreaterThan((limit ?? 600) * 0.75 - 1);
    const again = fitContext(model, { messages: [...messages] }, { imageLimits }, memo);
    expect(again.messages.every((message, at) => message === first.messages[at])).toBe(true);
  });

  it("sends more to Anthropic's large-window models, and fewer bytes to Groq", async () => {
    const limitsOf = async (api: string, provider: string, contextWindow: number) =>
      (await builtInProviders[api]?.())?.imageLimits?.({
        ...scriptedModel(),
        provider,
        contextWindow,
      });
    expect(await limitsOf("anthropic-messages", "anthropic", 1_000_000)).toMatchObject({
      count: 600,
    });
    expect(await limitsOf("anthropic-messages", "elsewhere", 1_000_000)).toMatchObject({
      count: 100,
    });
    expect(await limitsOf("openai-completions", "groq", 131_072)).toEqual({
      count: 5,
      bytes: 3_000_000,
    });
  });

  it("keeps as many as fit if they are too large together", () => {
    const large = (bytes: number): LlmMessage => ({
      role: "toolResult",
      toolCallId: "c",
      toolName: "shot",
      content: [{ ...image, data: "A".repeat(bytes) }],
      isError: false,
      timestamp: 1,
    });
    const limited = limitImages([1, 50, 40, 30].map(large), { bytes: 100 }, new WeakMap());
    expect(limited.map((message) => countOf([message]))).toEqual([0, 0, 1, 1]);
    expect(countOf(limitImages([large(101)], { bytes: 100 }, new WeakMap()))).toBe(0);
  });

  it("keeps as many as possible of a message that alone has too many", () => {
    const limited = limitImages([user(2), user(10)], { count: 8 }, new WeakMap());
    expect(limited.map((message) => countOf([message]))).toEqual([0, 8]);
    const content = limited[1]?.content ?? [];
    expect(content.slice(1, 4)).toMatchObject([{ type: "text" }, { type: "text" }, image]);
  });

  it("never exceeds the limit, and has the same beginning for the length of a step", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 5, max: 20 }), (images, limit) => {
        const known = new WeakMap<LlmMessage, LlmMessage>();
        const messages = images.map(user);
        let changes = 0;
        let before: LlmMessage[] = [];
        for (let end = 1; end <= messages.length; end++) {
          const limited = limitImages(messages.slice(0, end), { count: limit }, known);
          expect(countOf(limited)).toBeLessThanOrEqual(limit);
          if (!before.every((message, at) => message === limited[at])) changes += 1;
          before = limited;
        }
        const total = images.reduce((sum, count) => sum + count, 0);
        expect(changes).toBeLessThanOrEqual(Math.ceil(total / Math.max(1, Math.floor(limit / 4))));
      }),
    );
  });
});
