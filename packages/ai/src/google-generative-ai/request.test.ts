import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { StreamOptions } from "../provider.ts";
import { encodeRequest } from "./request.ts";

const model: Model = {
  id: "gemini-2.5-pro",
  name: "M",
  api: "google-generative-ai",
  provider: "google",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 64_000,
};

const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
const thinking = (given: Partial<Model>, options: StreamOptions) =>
  encodeRequest({ ...model, ...given }, context, options).config?.thinkingConfig;

describe("encodeRequest", () => {
  it.each([
    ["gemini-2.5-pro", "off", 128],
    ["gemini-2.5-pro", "minimal", 128],
    ["gemini-2.5-pro", "low", 2048],
    ["gemini-2.5-pro", "medium", 8192],
    ["gemini-2.5-pro", "high", 32_768],
    ["gemini-2.5-flash", "off", 0],
    ["gemini-2.5-flash", "high", 24_576],
    ["gemini-2.5-flash-lite", "minimal", 512],
    ["another-model", "high", -1],
  ] as const)("gives %s at %s a budget of %i", (id, thinkingLevel, thinkingBudget) => {
    expect(thinking({ id }, { thinkingLevel })).toEqual({
      includeThoughts: thinkingLevel !== "off",
      thinkingBudget,
    });
  });

  it("prefers a budget from the settings", () => {
    const options = { thinkingLevel: "low", thinkingBudgets: { low: 500 } } as const;
    expect(thinking({}, options)).toMatchObject({ thinkingBudget: 500 });
  });

  it("sends levels to models that support them, and the lowest level for off", () => {
    const id = "gemini-3.1-pro-preview";
    const thinkingLevelMap = { off: null, minimal: null, low: "low", high: "high" };
    expect(thinking({ id, thinkingLevelMap }, { thinkingLevel: "high" })).toEqual({
      includeThoughts: true,
      thinkingLevel: "HIGH",
    });
    expect(thinking({ id, thinkingLevelMap }, {})).toEqual({
      includeThoughts: false,
      thinkingLevel: "LOW",
    });
  });

  it("disables thinking for a model without reasoning", () => {
    expect(thinking({ reasoning: false }, { thinkingLevel: "high" })).toBeUndefined();
  });

  it("rewrites keywords of a schema, but not properties with the same names", () => {
    const parameters = {
      $schema: "x",
      type: "object",
      properties: {
        const: { const: 1 },
        $schema: { type: "string" },
        list: { type: "array", items: { anyOf: [{ const: "a" }, { type: "null" }] } },
        plain: { default: { const: 2 } },
      },
      $defs: { one: { const: true } },
    };
    const tools = [{ name: "t", description: "d", parameters }];
    const request = encodeRequest(model, { ...context, tools }, {});
    expect(request.config?.tools).toMatchObject([
      { functionDeclarations: [{ name: "t", description: "d" }] },
    ]);
    expect(JSON.parse(JSON.stringify(request.config?.tools))[0].functionDeclarations[0]).toEqual({
      name: "t",
      description: "d",
      parametersJsonSchema: {
        type: "object",
        properties: {
          const: { enum: [1] },
          $schema: { type: "string" },
          list: { type: "array", items: { anyOf: [{ enum: ["a"] }, { type: "null" }] } },
          plain: { default: { const: 2 } },
        },
        $defs: { one: { enum: [true] } },
      },
    });
  });
});
