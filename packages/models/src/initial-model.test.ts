import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { fakeModel, fakeRegistry } from "./__fixtures__/fake-registry.ts";
import { nextModel, selectInitialModel } from "./initial-model.ts";
import { modelName } from "./resolver.ts";
import { chooseThinkingLevel } from "./thinking-level.ts";

const lists = {
  openai: ["gpt-5", "gpt-5-mini"],
  anthropic: ["claude-haiku-4-5", "claude-sonnet-4-5"],
};
const scope = [{ model: fakeModel("openai", "gpt-5-mini"), thinkingLevel: "low" as const }];
const saved = { provider: "anthropic", model: "claude-haiku-4-5" };
const resumed = { provider: "openai", modelId: "gpt-5" };

async function select(
  input: Omit<Parameters<typeof selectInitialModel>[0], "registry"> & { available?: string[] } = {},
) {
  const { available, ...rest } = input;
  const fake = fakeRegistry({ lists, ...(available === undefined ? {} : { available }) });
  const found = await selectInitialModel({ registry: fake.registry, ...rest });
  return { ...found, name: found.model && modelName(found.model), loaded: fake.loaded };
}

describe("selectInitialModel", () => {
  it("takes the flags first, with their thinking suffix", async () => {
    const found = await select({ flags: { model: "gpt-5:high" }, scope, saved, resumed });
    expect(found).toMatchObject({ name: "openai/gpt-5", thinkingLevel: "high", source: "flag" });
  });

  it("never ignores a provider named without a model", async () => {
    expect(await select({ flags: { provider: "openai" }, saved })).toMatchObject({
      name: "openai/gpt-5",
      source: "flag",
    });
    await expect(select({ flags: { provider: "nobody" } })).rejects.toThrow(/provider.*nobody/);
    await expect(select({ flags: { provider: "constructor" } })).rejects.toThrow(
      /Invalid option provider/,
    );
  });

  it("takes the resumed session's model before scope and saved default", async () => {
    expect(await select({ scope, saved, resumed })).toMatchObject({
      name: "openai/gpt-5",
      source: "session",
    });
  });

  it("reports that the session's model is not available and uses another", async () => {
    const found = await select({ resumed, saved, available: ["anthropic"] });
    expect(found).toMatchObject({ name: "anthropic/claude-haiku-4-5", source: "saved" });
    expect(found.diagnostics.map(({ message }) => message)).toEqual([
      "The session's model openai/gpt-5 is not available; using anthropic/claude-haiku-4-5",
    ]);
  });

  it("reports that no other model is available either", async () => {
    const found = await select({ resumed, available: [] });
    expect(found.diagnostics.map(({ message }) => message)).toEqual([
      "The session's model openai/gpt-5 is not available; no other one is",
    ]);
  });

  it("takes the scope's first model before the saved default", async () => {
    expect(await select({ scope, saved })).toMatchObject({
      name: "openai/gpt-5-mini",
      thinkingLevel: "low",
      source: "scope",
    });
  });

  it("takes the scope's first model that has a key", async () => {
    const mixed = [{ model: fakeModel("anthropic", "claude-haiku-4-5") }, ...scope];
    expect(await select({ scope: mixed, available: ["openai"] })).toMatchObject({
      name: "openai/gpt-5-mini",
      source: "scope",
    });
  });

  it("takes the saved default when it is in the scope", async () => {
    const wide = [...scope, { model: fakeModel("anthropic", "claude-haiku-4-5") }];
    expect(await select({ scope: wide, saved })).toMatchObject({
      name: "anthropic/claude-haiku-4-5",
      source: "scope",
    });
  });

  it("skips a saved default without a key, with a warning", async () => {
    const found = await select({ saved, available: ["openai"] });
    expect(found).toMatchObject({ name: "openai/gpt-5", source: "available" });
    expect(found.diagnostics[0]?.message).toContain("claude-haiku-4-5");
  });

  it("takes the provider's default among the available models, loading no other catalogue", async () => {
    const found = await select();
    expect(found).toMatchObject({ name: "anthropic/claude-sonnet-4-5", source: "available" });
    expect(found.loaded).toEqual(["anthropic"]);
  });

  it("returns no model when no provider has a key, without loading anything", async () => {
    expect(await select({ available: [] })).toMatchObject({
      model: undefined,
      source: "none",
      loaded: [],
    });
  });

  it("uses a local server of models.json when there is no key", async () => {
    const { registry } = fakeRegistry({
      lists,
      available: [],
      custom: {
        ollama: {
          baseUrl: "http://localhost:11434/v1",
          api: "openai-completions",
          models: [{ id: "qwen3:8b" }, { id: "z" }],
        },
      },
    });
    const { model } = await selectInitialModel({ registry });
    expect(model && modelName(model)).toBe("ollama/qwen3:8b");
  });
});

describe("nextModel", () => {
  const models = ["a", "b", "c"].map((id) => ({ model: fakeModel("p", id) }));
  it("cycles in both directions", () => {
    expect(nextModel(models, models[2]?.model)?.model.id).toBe("a");
    expect(nextModel(models, models[0]?.model, "backward")?.model.id).toBe("c");
  });
  it("starts with the first model if the current one is not in the list", () => {
    expect(nextModel(models, undefined)?.model.id).toBe("a");
  });
  it("returns nothing when there is no other model", () => {
    expect(nextModel(models.slice(0, 1), models[0]?.model)).toBeUndefined();
    expect(nextModel([], undefined)).toBeUndefined();
  });
});

describe("chooseThinkingLevel", () => {
  it("prefers flag, suffix, session, the model's setting, the default setting, medium, in this order", () => {
    const model = fakeModel("p", "m");
    const settings = SettingsStore.inMemory({
      defaultThinkingLevel: "low",
      modelThinkingLevels: { "p/m": "high" },
    });
    expect(chooseThinkingLevel(model, { flag: "off", suffix: "max", settings })).toBe("off");
    expect(chooseThinkingLevel(model, { suffix: "max", session: "low", settings })).toBe("max");
    expect(chooseThinkingLevel(model, { session: "minimal", settings })).toBe("minimal");
    expect(chooseThinkingLevel(model, { settings })).toBe("high");
    expect(chooseThinkingLevel(fakeModel("p", "other"), { settings })).toBe("low");
    expect(chooseThinkingLevel(undefined, {})).toBe("medium");
  });
});
