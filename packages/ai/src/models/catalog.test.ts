import { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { builtInProviders } from "../providers.ts";
import { catalogSource, findModel, listProviders, loadModels, whyNotOffered } from "./catalog.ts";

describe("the model catalogue", () => {
  it("lists vendors with the variable for their key", () => {
    expect(listProviders()).toContainEqual({ id: "anthropic", apiKeyEnv: "ANTHROPIC_API_KEY" });
    expect(catalogSource).toMatch(/\d{4}-\d\d-\d\d/);
  });

  it("contains only valid models with unique ids that a built-in wire format can reach", async () => {
    for (const { id } of listProviders()) {
      const models = await loadModels(id);
      expect(models.length).toBeGreaterThan(0);
      expect(new Set(models.map((model) => model.id)).size).toBe(models.length);
      for (const model of models) {
        expect(Model.parse(model)).toEqual(model);
        expect(model.provider).toBe(id);
        expect(Object.keys(builtInProviders)).toContain(model.api);
      }
    }
  });

  it("finds a model by vendor and id", async () => {
    const model = await findModel("anthropic", "claude-haiku-4-5");
    expect(model).toMatchObject({ api: "anthropic-messages", contextWindow: 200_000 });
    expect(await findModel("anthropic", "gpt-5")).toBeUndefined();
    expect(await findModel("nobody", "x")).toBeUndefined();
    expect(await loadModels("toString")).toEqual([]);
  });

  it("explains why a model of a vendor is missing", async () => {
    expect(await findModel("openai", "gpt-4")).toBeUndefined();
    expect(await whyNotOffered("openai", "gpt-4")).toMatch(/^its window of 8,192 tokens/);
    expect(await whyNotOffered("google", "deep-research-preview-04-2026")).toMatch(
      /API of its own/,
    );
    expect(await whyNotOffered("radius", "balanced")).toMatch(/wire format, pi-messages/);
    expect(await whyNotOffered("openai", "gpt-5.4")).toBeUndefined();
    expect(await whyNotOffered("toString", "*")).toBeUndefined();
  });

  it("never requests more output than fits into a model's window", async () => {
    for (const { id } of listProviders()) {
      for (const { contextWindow, maxTokens } of await loadModels(id)) {
        expect(maxTokens).toBeLessThanOrEqual(contextWindow);
      }
    }
  });
});
