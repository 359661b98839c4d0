import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { Context, StreamOptions } from "../provider.ts";
import { normalizeToolCallId } from "./input.ts";
import { encodeRequest } from "./request.ts";

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function model(overrides: Partial<Model> = {}): Model {
  return {
    id: "m",
    name: "M",
    api: "openai-responses",
    provider: "openai",
    baseUrl: "https://api.openai.com/v1",
    reasoning: true,
    input: ["text", "image"],
    cost: zero,
    contextWindow: 100_000,
    maxTokens: 64_000,
    ...overrides,
  };
}

const user = { role: "user" as const, content: "Hi", timestamp: 1 };
const tools = [{ name: "read", description: "Reads", parameters: { type: "object" } }];

function encode(target: Model, context: Partial<Context> = {}, options: StreamOptions = {}) {
  const request = encodeRequest(target, { messages: [user], ...context }, options);
  return JSON.parse(JSON.stringify(request));
}

const assistant = (content: AssistantMessage["content"]): AssistantMessage => ({
  role: "assistant",
  content,
  api: "openai-responses",
  provider: "openai",
  model: "m",
  usage: { ...zero, totalTokens: 0, cost: { ...zero, total: 0 } },
  stopReason: "stop",
  timestamp: 2,
});

describe("encodeRequest", () => {
  it("stores nothing at the vendor and requests encrypted reasoning", () => {
    expect(encode(model())).toMatchObject({
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
    });
    expect(encode(model({ reasoning: false }))).not.toHaveProperty("include");
  });

  it("sets the thinking level in the model's own terms", () => {
    const map = { off: "none", high: "hard" };
    const reasoning = (options: StreamOptions, thinkingLevelMap?: Model["thinkingLevelMap"]) =>
      encode(model(thinkingLevelMap && { thinkingLevelMap }), {}, options).reasoning;
    expect(reasoning({ thinkingLevel: "high" })).toEqual({ effort: "high", summary: "auto" });
    expect(reasoning({ thinkingLevel: "high" }, map)).toEqual({ effort: "hard", summary: "auto" });
    expect(reasoning({}, map)).toEqual({ effort: "none" });
    expect(reasoning({}, { off: null })).toBeUndefined();
    expect(reasoning({})).toBeUndefined();
  });

  it("sends a temperature only to a model that does not think", () => {
    const options = { temperature: 0.5 };
    expect(encode(model(), {}, options)).toHaveProperty("temperature", 0.5);
    expect(encode(model(), {}, { ...options, thinkingLevel: "low" })).not.toHaveProperty(
      "temperature",
    );
  });

  it("omits empty thinking and foreign signatures", () => {
    const content: AssistantMessage["content"] = [
      { type: "thinking", thinking: "x", thinkingSignature: "reasoning_content" },
      {
        type: "thinking",
        thinking: "",
        thinkingSignature: JSON.stringify({ type: "reasoning", id: "rs_1", summary: [] }),
      },
      { type: "text", text: "A" },
    ];
    const { input } = encode(model(), { messages: [user, assistant(content), user] });
    expect(input.map((item: { type?: string; role?: string }) => item.type ?? item.role)).toEqual([
      "user",
      "message",
      "user",
    ]);
  });
});

it("sends reasoning with an id that the vendor accepts", () => {
  const item = { type: "reasoning", id: "\ud800 lone", summary: [], encrypted_content: "e" };
  const content: AssistantMessage["content"] = [
    { type: "thinking", thinking: "x", thinkingSignature: JSON.stringify(item) },
    { type: "text", text: "A" },
  ];
  const { input } = encode(model(), { messages: [user, assistant(content), user] });
  expect(input[1]).toMatchObject({ type: "reasoning", encrypted_content: "e" });
  expect(input[1].id).toMatch(/^rs_[\w-]+$/);
});

describe("compat flags", () => {
  const flagged = (compat: Record<string, unknown>) => model({ compat });

  it("supportsDeveloperRole: false falls back to system", () => {
    const role = (target: Model) => encode(target, { systemPrompt: "S" }).input[0].role;
    expect(role(model())).toBe("developer");
    expect(role(flagged({ supportsDeveloperRole: false }))).toBe("system");
  });

  it("supportsStrictMode: false omits strict", () => {
    expect(encode(model(), { tools }).tools[0]).toHaveProperty("strict", false);
    const target = flagged({ supportsStrictMode: false });
    expect(encode(target, { tools }).tools[0]).not.toHaveProperty("strict");
  });

  it("supportsMaxOutputTokens: false omits the limit", () => {
    const options = { maxTokens: 90 };
    expect(encode(model(), {}, options)).toHaveProperty("max_output_tokens", 90);
    expect(encode(flagged({ supportsMaxOutputTokens: false }), {}, options)).not.toHaveProperty(
      "max_output_tokens",
    );
  });

  it("supportsLongCacheRetention: false omits the retention", () => {
    const options = { sessionId: "s", cacheRetention: "long" } as const;
    expect(encode(model(), {}, options)).toMatchObject({
      prompt_cache_key: "s",
      prompt_cache_retention: "24h",
    });
    const target = flagged({ supportsLongCacheRetention: false });
    expect(encode(target, {}, options)).not.toHaveProperty("prompt_cache_retention");
    expect(encode(model(), {}, { ...options, cacheRetention: "none" })).not.toHaveProperty(
      "prompt_cache_key",
    );
  });
});

describe("normalizeToolCallId", () => {
  it.each([
    ["call_1|fc_1", "call_1|fc_1"],
    ["call_1|rs_1", "call_1"],
    ["toolu_01:x/y", "toolu_01_x_y"],
    ["call_1___|fc_1__", "call_1|fc_1"],
  ])("converts %s to %s", (id, expected) => {
    expect(normalizeToolCallId(id)).toBe(expected);
  });

  it("bounds both halves and keeps long ids distinct", () => {
    const long = (tail: string) => `call_${"x".repeat(100)}${tail}|fc_${"y".repeat(100)}${tail}`;
    const [call = "", item = ""] = normalizeToolCallId(long("1")).split("|");
    expect(call.length).toBeLessThanOrEqual(64);
    expect(item.length).toBeLessThanOrEqual(64);
    expect(normalizeToolCallId(long("1"))).not.toBe(normalizeToolCallId(long("2")));
  });

  it("sends no item id twice, whatever ids a server has used", () => {
    const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: {} });
    const text = (textSignature: string) => ({ type: "text" as const, text: "x", textSignature });
    const thinking = {
      type: "thinking" as const,
      thinking: "",
      thinkingSignature: JSON.stringify({
        ...{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" },
      }),
    };
    const reply = (id: string) => assistant([thinking, text("msg_1"), call(`${id}|fc_1`)]);
    const { input } = encode(model(), { messages: [user, reply("a"), user, reply("b"), user] });
    const ids = input.flatMap((item: { id?: string }) => item.id ?? []);
    expect(ids).toEqual(["rs_1", "msg_1", "fc_1", "msg_1_2"]);
  });
});
