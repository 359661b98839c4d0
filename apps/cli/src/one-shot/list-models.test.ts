import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { listModels } from "./list-models.ts";

function model(provider: string, id: string, rest: Partial<Model> = {}): Model {
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl: "http://localhost",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 16_384,
    ...rest,
  };
}

const models = [
  model("ollama", "qwen3:8b"),
  model("anthropic", "claude-x", {
    reasoning: true,
    input: ["text", "image"],
    contextWindow: 1_000_000,
  }),
];

describe("listModels", () => {
  it("aligns the columns for clients and people", () => {
    expect(listModels(models).text.split("\n")).toEqual([
      "provider   model     context  max-out  thinking  images",
      "ollama     qwen3:8b  128K     16.4K    no        no",
      "anthropic  claude-x  1M       16.4K    yes       yes",
      "",
    ]);
  });

  it("keeps the models whose name contains every search word", () => {
    expect(listModels(models, "CLAUDE anth").text).toContain("claude-x");
    expect(listModels(models, "claude anth").text).not.toContain("qwen3");
    const text = 'No models matching "nothing".\n';
    expect(listModels(models, "nothing")).toEqual({ text, isEmpty: true });
  });

  it("explains why the list is empty", () => {
    expect(listModels([]).text).toContain("no provider has a key");
  });

  it.each([
    ["cluade", "claude"],
    ["anthropic/claud-x", "anthropic/claude-x"],
    ["qwen3b", "qwen3"],
  ])("suggests the nearest models to %s", (search, near) => {
    expect(listModels(models, search).text).toContain(`; the nearest is ${near}.`);
  });
});
