import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { StreamOptions } from "../provider.ts";
import { createStream } from "../stream.ts";
import { InputEstimate } from "./input-estimate.ts";
import { outputLimit } from "./output-limit.ts";

const model: Model = {
  id: "gemini-2.5-flash",
  name: "M",
  api: "anthropic-messages",
  provider: "openai",
  baseUrl: "https://vendor.invalid/v1",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 64_000,
};
const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });

async function sent(
  given: Partial<Model>,
  text: string,
  options: StreamOptions = {},
): Promise<Record<string, unknown>> {
  let body: Record<string, unknown> = {};
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return Response.json({ error: { message: "no" } }, { status: 400 });
  };
  const reply = createStream()(
    { ...model, ...given },
    { messages: [user(text)] },
    { apiKey: "k", fetch, ...options },
  );
  for await (const _ of reply);
  return { ...body, ...(body.generationConfig as object | undefined) };
}

const members = {
  "anthropic-messages": "max_tokens",
  "openai-completions": "max_completion_tokens",
  "openai-responses": "max_output_tokens",
  "google-generative-ai": "maxOutputTokens",
};

describe.each(Object.entries(members))("the output limit over %s", (api, member) => {
  it("is the model's own unless the caller requests less", async () => {
    // Responses uses the model's own limit if none is sent.
    const own = api === "openai-responses" ? undefined : 64_000;
    expect((await sent({ api }, "Hi"))[member]).toBe(own);
    expect((await sent({ api }, "Hi", { maxTokens: 500_000 }))[member]).toBe(own);
    expect((await sent({ api }, "Hi", { maxTokens: 900 }))[member]).toBe(900);
  });

  it("fits the rest of the window", async () => {
    expect((await sent({ api }, "Hi", { inputTokens: 70_000 }))[member]).toBe(30_000);
    const estimated = Number((await sent({ api }, "word ".repeat(50_000)))[member]);
    expect(estimated).toBeGreaterThan(10_000);
    expect(estimated).toBeLessThan(50_000);
    expect((await sent({ api }, "Hi", { inputTokens: 200_000 }))[member]).toBe(16);
  });
});

describe("the thinking budget", () => {
  const high = { thinkingLevel: "high", thinkingBudgets: { high: 40_000 } } as const;

  it.each([
    [64_000, 40_000],
    [20_000, 18_976],
    [1025, 1024],
    [1024, undefined],
  ])("is below an output limit of %s: %s", async (maxTokens, budget) => {
    const anthropic = await sent({}, "Hi", { ...high, maxTokens });
    expect((anthropic.thinking as { budget_tokens?: number } | undefined)?.budget_tokens).toBe(
      budget,
    );
    const google = await sent({ api: "google-generative-ai" }, "Hi", { ...high, maxTokens });
    expect(google.thinkingConfig).toMatchObject({
      includeThoughts: budget !== undefined,
      thinkingBudget: budget ?? 0,
    });
  });
});

describe("InputEstimate", () => {
  const reply = (input: number, text: string): LlmMessage => ({
    role: "assistant",
    content: [{ type: "text", text }],
    api: "a",
    provider: "p",
    model: "m",
    usage: {
      ...{ input, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: 1,
  });

  const unbounded = { id: "m", provider: "p", contextWindow: 0 };
  const bounded = { ...unbounded, contextWindow: 200_000 };
  const counted = [user("x".repeat(35_000)), reply(12_000, "ok"), user("y".repeat(3500))];
  const call = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const;
  const calling = (count: number): LlmMessage => ({
    ...(reply(12_000, "ok") as AssistantMessage),
    content: Array.from({ length: count }, () => call),
  });

  it("uses the vendor's count and estimates only what came after", () => {
    expect(new InputEstimate().of(unbounded, { messages: counted })).toBe(13_210);
  });

  it("reserves a share of the window, and tokens for each uncounted message and call", () => {
    const of = (...messages: LlmMessage[]) => new InputEstimate().of(bounded, { messages });
    expect(of(...counted)).toBe(13_210 + 4_000 + 2 * 8);
    const before = user("x".repeat(35_000));
    expect(of(before, calling(5)) - of(before, calling(0))).toBe(5 * 8);
  });

  it("never reserves more than half of the remaining window", () => {
    const model = { ...bounded, contextWindow: 13_310 };
    expect(new InputEstimate().of(model, { messages: counted })).toBe(13_260);
    const full = { ...bounded, contextWindow: 12_000 };
    expect(new InputEstimate().of(full, { messages: counted })).toBe(13_210);
  });

  it("does not trust the lower count of another model", () => {
    const messages = [user("x".repeat(35_000)), reply(2_000, "ok"), user("y".repeat(3500))];
    const other = { ...unbounded, id: "n" };
    const fresh = new InputEstimate().of(other, { messages: [user("x".repeat(38_500))] });
    expect(new InputEstimate().of(unbounded, { messages })).toBeLessThan(4_000);
    expect(new InputEstimate().of(other, { messages })).toBeGreaterThanOrEqual(fresh);
    expect(new InputEstimate().of({ ...unbounded, provider: "q" }, { messages })).toBeGreaterThan(
      fresh,
    );
  });

  it("trusts an earlier count of the model after another one has answered", () => {
    const between = { ...(reply(2_000, "ok") as AssistantMessage), model: "n" };
    const messages = [...counted, between, user("z".repeat(3500))];
    const estimate = new InputEstimate().of(unbounded, { messages });
    expect(estimate).toBeGreaterThan(12_010 + 2_400);
    expect(estimate).toBeLessThan(12_010 + 2_500);
  });

  it("does not trust a count from before a compaction", () => {
    const messages = [user("Summary."), reply(180_000, "kept"), user("Go on.")];
    expect(new InputEstimate().of(unbounded, { messages })).toBeLessThan(600);
  });

  it("counts a character of other scripts as a token", () => {
    expect(
      new InputEstimate().of(unbounded, { messages: [user("漢字".repeat(500))] }),
    ).toBeGreaterThan(999);
  });
});

describe("outputLimit", () => {
  it("uses the known limits of a model", () => {
    expect(outputLimit({ maxTokens: 0, contextWindow: 0 }, { maxTokens: 5 })).toBe(5);
    expect(outputLimit({ maxTokens: 100, contextWindow: 0 }, { inputTokens: 900 })).toBe(100);
    expect(outputLimit({ maxTokens: 0, contextWindow: 1000 }, { inputTokens: 900 })).toBe(100);
  });
});
