import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { StreamOptions } from "../provider.ts";
import { encodeRequest } from "./request.ts";

const model: Model = {
  id: "m",
  name: "M",
  api: "anthropic-messages",
  provider: "anthropic",
  baseUrl: "https://api.anthropic.com",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 64_000,
};

const adaptive = { ...model, compat: { forceAdaptiveThinking: true } };
const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
const encode = (options: StreamOptions, given: Model = model) =>
  encodeRequest(given, context, options).request;

describe("encodeRequest", () => {
  it("keeps the thinking budget below the output limit", () => {
    expect(encode({ thinkingLevel: "low" })).toMatchObject({
      max_tokens: 64_000,
      thinking: { type: "enabled", budget_tokens: 2048 },
    });
    expect(encode({ thinkingLevel: "high", maxTokens: 60_000 })).toMatchObject({
      max_tokens: 60_000,
      thinking: { budget_tokens: 16_384 },
    });
    expect(encode({ thinkingLevel: "high" }, { ...model, maxTokens: 8000 })).toMatchObject({
      max_tokens: 8000,
      thinking: { budget_tokens: 6976 },
    });
  });

  it("disables thinking if no budget above the minimum fits", () => {
    const request = encode({ thinkingLevel: "high" }, { ...model, maxTokens: 1000 });
    expect(request).toMatchObject({ max_tokens: 1000 });
    expect(request).not.toHaveProperty("thinking");
  });

  it.each([
    ["minimal", {}, "low"],
    ["medium", {}, "medium"],
    ["xhigh", { xhigh: "max" }, "max"],
    ["xhigh", { xhigh: "xhigh" }, "xhigh"],
    ["high", { high: "extreme" }, "high"],
  ] as const)("asks an adaptive model for effort at %s with %j", (level, map, effort) => {
    const given = { ...adaptive, thinkingLevelMap: map };
    expect(encode({ thinkingLevel: level }, given)).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort },
    });
  });

  it("turns thinking off explicitly unless the model cannot turn it off or cannot think", () => {
    expect(encode({}).thinking).toEqual({ type: "disabled" });
    expect(encode({}, { ...model, thinkingLevelMap: { off: null } })).not.toHaveProperty(
      "thinking",
    );
    expect(encode({}, { ...model, reasoning: false })).not.toHaveProperty("thinking");
  });

  it("sends a temperature only without thinking and only to models that accept it", () => {
    expect(encode({ temperature: 0 }).temperature).toBe(0);
    expect(encode({ temperature: 0, thinkingLevel: "low" })).not.toHaveProperty("temperature");
    const without = { ...model, compat: { supportsTemperature: false } };
    expect(encode({ temperature: 0 }, without)).not.toHaveProperty("temperature");
  });

  it("sets no cache marks when no caching is requested", () => {
    const tool = { name: "a", description: "b", parameters: {} };
    const full = { ...context, systemPrompt: "s", tools: [tool] };
    const text = (options: StreamOptions) =>
      JSON.stringify(encodeRequest(model, full, options).request);
    expect(text({ cacheRetention: "none" })).not.toContain("cache_control");
    expect(text({}).match(/cache_control/g)).toHaveLength(2);
    expect(text({})).not.toContain("ttl");
  });

  it("keeps the bytes of a prefix when the conversation grows", () => {
    const grow = (count: number) => Array.from({ length: count }, () => context.messages).flat();
    const bytes = (count: number) =>
      JSON.stringify(
        encodeRequest(model, { messages: grow(count) }, { cacheRetention: "none" }).request
          .messages[0]?.content,
      );
    expect(bytes(3).startsWith(bytes(2).slice(0, -1))).toBe(true);
  });
});
