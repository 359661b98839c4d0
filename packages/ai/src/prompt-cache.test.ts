import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { encodeRequest as encodeAnthropic } from "./anthropic-messages/request.ts";
import { encodeRequest as encodeBedrock } from "./bedrock-converse-stream/request.ts";
import { cacheLifetimeMs, renewalTokens } from "./prompt-cache.ts";
import type { StreamOptions } from "./provider.ts";

function model(api: string, given: Partial<Model> = {}): Model {
  return {
    ...{ id: "claude-opus-5", name: "Claude", provider: "anthropic", api, reasoning: true },
    input: ["text"],
    baseUrl: "https://api.anthropic.com",
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    contextWindow: 200_000,
    maxTokens: 32_000,
    ...given,
  };
}

const proxied = { baseUrl: "http://127.0.0.1:1" };
const minutes = (count: number): number => count * 60_000;

describe("cacheLifetimeMs", () => {
  it.each([
    [model("anthropic-messages"), [0, 5, 60]],
    [model("anthropic-messages", proxied), [0, 5, 5]],
    [
      model("anthropic-messages", { ...proxied, compat: { supportsLongCacheRetention: true } }),
      [0, 5, 60],
    ],
    [model("anthropic-messages", { compat: { supportsLongCacheRetention: false } }), [0, 5, 5]],
    [model("anthropic-vertex", { baseUrl: "" }), [0, 5, 5]],
    [model("bedrock-converse-stream", { id: "anthropic.claude-opus-4-5" }), [0, 5, 60]],
    [model("bedrock-converse-stream", { id: "anthropic.claude-opus-4-1" }), [0, 5, 5]],
    [model("openai-completions", { compat: { cacheControlFormat: "anthropic" } }), [0, 5, 60]],
    [model("openai-responses", { id: "gpt-5", provider: "openai" }), [60, 60, 24 * 60]],
    [model("google-generative-ai", { provider: "google" }), [24 * 60, 24 * 60, 24 * 60]],
  ])("knows how long $api at $baseUrl keeps a prompt", (given, expected) => {
    const found = (["none", "short", "long"] as const).map((each) => cacheLifetimeMs(given, each));
    expect(found).toEqual(expected.map(minutes));
  });

  it("returns undefined for vendors that publish no lifetime", () => {
    const other = model("openai-completions", { id: "m", name: "M", provider: "acme", ...proxied });
    expect(cacheLifetimeMs(other, "short")).toBeUndefined();
  });
});

describe("a request that renews the cache", () => {
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 0 }] };
  const encode = (options: StreamOptions, compat = {}) =>
    encodeAnthropic(model("anthropic-messages", { compat }), context, options).request;

  it.each([
    ["without thinking", { thinkingLevel: "off" }, {}, 1],
    ["with adaptive thinking", { thinkingLevel: "high" }, { forceAdaptiveThinking: true }, 1],
    ["with a thinking budget", { thinkingLevel: "low" }, {}, 2049],
  ] as const)("repeats all but the limit %s", async (_, options, compat, expected) => {
    const request = encode(options, compat);
    const renewing = encode({ ...options, renewsCache: true }, compat);
    expect(renewing).toEqual({ ...request, max_tokens: expected });
    const target = model("anthropic-messages", { compat });
    await expect(renewalTokens(target, options)).resolves.toBe(expected);
  });

  it("repeats everything but the limit over Bedrock", async () => {
    const target = model("bedrock-converse-stream", { id: "anthropic.claude-sonnet-4-5" });
    const request = encodeBedrock(target, context, { thinkingLevel: "low" });
    const renewing = encodeBedrock(target, context, { thinkingLevel: "low", renewsCache: true });
    const inferenceConfig = { ...request.inferenceConfig, maxTokens: 2049 };
    expect(renewing).toEqual({ ...request, inferenceConfig });
    await expect(renewalTokens(target, { thinkingLevel: "low" })).resolves.toBe(2049);
  });

  it("is not possible if the vendor promises no lifetime that reading renews", async () => {
    const others = [
      model("openai-responses", { id: "gpt-5", provider: "openai" }),
      model("openai-completions", { compat: { cacheControlFormat: "anthropic" } }),
      model("google-generative-ai", { provider: "google" }),
      model("bedrock-converse-stream", { id: "amazon.nova-pro", name: "Nova" }),
    ];
    for (const each of others) await expect(renewalTokens(each, {})).resolves.toBeUndefined();
  });
});
