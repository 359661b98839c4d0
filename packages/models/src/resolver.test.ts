import { SessionError } from "@tau-agent/rpc-protocol/plain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeRegistry } from "./__fixtures__/fake-registry.ts";
import { modelName, resolveModel, resolveModelScope } from "./resolver.ts";

const lists = {
  anthropic: [
    "claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
    "claude-sonnet-4-10",
    "claude-opus-4-5-20251101",
  ],
  openai: ["gpt-5", "gpt-5-mini", "gpt-oss"],
  openrouter: [
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5",
    "qwen/qwen3:free",
    "qwen/qwen3",
    "odd/id:high",
    "odd/[brackets]",
  ],
};

async function named(model: string, options: { provider?: string; available?: string[] } = {}) {
  const { available, ...rest } = options;
  const { registry } = fakeRegistry({ lists, ...(available === undefined ? {} : { available }) });
  const found = await resolveModel(registry, { model, ...rest });
  return [modelName(found.model), found.thinkingLevel] as const;
}

describe("resolveModel", () => {
  it.each([
    ["anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", undefined],
    ["ANTHROPIC/Claude-Sonnet-4-5", "anthropic/claude-sonnet-4-5", undefined],
    ["openrouter/anthropic/claude-sonnet-4-5", "openrouter/anthropic/claude-sonnet-4-5", undefined],
    ["openai/gpt-5", "openai/gpt-5", undefined],
    ["gpt-5-mini", "openai/gpt-5-mini", undefined],
    ["gpt-5-mini:low", "openai/gpt-5-mini", "low"],
    ["openai/gpt-5:XHIGH", "openai/gpt-5", "xhigh"],
    ["odd/id:high", "openrouter/odd/id:high", undefined],
    ["odd/id:high:low", "openrouter/odd/id:high", "low"],
    ["qwen3:free", "openrouter/qwen/qwen3:free", undefined],
    ["qwen3", "openrouter/qwen/qwen3", undefined],
    ["odd/[brackets]", "openrouter/odd/[brackets]", undefined],
    ["anthropic/sonnet", "anthropic/claude-sonnet-4-10", undefined],
    ["opus", "anthropic/claude-opus-4-5-20251101", undefined],
    ["opus:off", "anthropic/claude-opus-4-5-20251101", "off"],
  ])("reads %s as %s", async (pattern, name, level) => {
    expect(await named(pattern)).toEqual([name, level]);
  });

  it("prefers a provider that has a key for a bare id", async () => {
    const { registry } = fakeRegistry({
      lists: { one: ["same"], two: ["same"] },
      available: ["two"],
    });
    expect(modelName((await resolveModel(registry, { model: "same" })).model)).toBe("two/same");
  });

  it("searches only the named provider", async () => {
    expect(await named("sonnet", { provider: "openrouter" })).toEqual([
      "openrouter/anthropic/claude-sonnet-4-5",
      undefined,
    ]);
    expect(await named("openai/gpt-5:low", { provider: "OpenAI" })).toEqual([
      "openai/gpt-5",
      "low",
    ]);
  });

  it("lists the candidates when a name fits models of several providers", async () => {
    const { registry } = fakeRegistry({ lists: { one: ["kimi-1"], two: ["x/kimi-2"] } });
    const finding = resolveModel(registry, { model: "kimi" });
    await expect(finding).rejects.toMatchObject({ code: "model_ambiguous" });
    await expect(finding).rejects.toThrow(/one\/kimi-1, two\/x\/kimi-2/);
  });

  it("prefers the maker to a reseller of its models", async () => {
    expect(await named("sonnet:low")).toEqual(["anthropic/claude-sonnet-4-10", "low"]);
  });

  it("chooses the maker if no provider has a key, so that the error says which key to set", async () => {
    expect(await named("sonnet", { available: [] })).toEqual([
      "anthropic/claude-sonnet-4-10",
      undefined,
    ]);
    const { registry } = fakeRegistry({
      lists: { opencode: ["same"], "amazon-bedrock": ["same"], xai: ["same"] },
      available: [],
    });
    expect((await resolveModel(registry, { model: "same" })).model.provider).toBe("xai");
  });

  it("lets the preferred provider decide", async () => {
    const { registry } = fakeRegistry({ lists });
    const wanted = { model: "sonnet", preferredProvider: "openrouter" };
    expect((await resolveModel(registry, wanted)).model.provider).toBe("openrouter");
  });

  it("names similar models when nothing matches", async () => {
    const finding = named("claude-sonet-4.5");
    await expect(finding).rejects.toMatchObject({ code: "model_not_found" });
    await expect(finding).rejects.toThrow(/Did you mean anthropic\/claude-sonnet-4-5/);
    await expect(named("gpt-5", { provider: "opnai" })).rejects.toThrow(
      /no provider opnai.*openai/,
    );
  });

  it("names the ignored parts of models.json when nothing matches", async () => {
    const error = 'models.json: model "mine/own" is left out: it is broken';
    const { registry } = fakeRegistry({ lists, error });
    for (const model of ["mine/own", "no such model"]) {
      await expect(resolveModel(registry, { model })).rejects.toMatchObject({
        code: "model_not_found",
        message: expect.stringContaining(error),
      });
    }
  });

  it("loads only the named provider", async () => {
    const { registry, loaded } = fakeRegistry({ lists });
    await resolveModel(registry, { model: "openai/gpt-5" });
    await resolveModel(registry, { model: "gpt-5", provider: "openai" });
    expect(loaded).toEqual(["openai"]);
  });

  it("answers any pattern with a model or a SessionError", async () => {
    const { registry } = fakeRegistry({ lists });
    const piece = fc.constantFrom("gpt", "/", ":", "high", "*", "[", "]", "?", "openai", "-", "");
    const pattern = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 8 }).map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(pattern, fc.option(pattern), async (model, provider) => {
        const wanted = { model, provider: provider ?? undefined };
        const result = await resolveModel(registry, wanted).catch((error: unknown) => error);
        if (result instanceof Error) expect(result).toBeInstanceOf(SessionError);
        await resolveModelScope(registry, [model]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("resolveModelScope", () => {
  const scope = async (...patterns: string[]) => {
    const { registry } = fakeRegistry({ lists });
    const { models, diagnostics } = await resolveModelScope(registry, patterns);
    return {
      names: models.map(({ model, thinkingLevel }) => [modelName(model), thinkingLevel]),
      diagnostics,
    };
  };

  it("accepts globs for ids and for provider/id, with a thinking level", async () => {
    expect((await scope("openai/*mini:high", "GPT-O*")).names).toEqual([
      ["openai/gpt-5-mini", "high"],
      ["openai/gpt-oss", undefined],
    ]);
  });

  it("matches slashes with a star", async () => {
    const { names } = await scope("openrouter/*");
    expect(names).toHaveLength(lists.openrouter.length);
  });

  it("takes an id with brackets literally", async () => {
    expect((await scope("odd/[brackets]")).names).toEqual([
      ["openrouter/odd/[brackets]", undefined],
    ]);
  });

  it("keeps the order of the patterns and each model once", async () => {
    expect((await scope("gpt-oss", "gpt-5-mini:low", "openai/*")).names).toEqual([
      ["openai/gpt-oss", undefined],
      ["openai/gpt-5-mini", "low"],
      ["openai/gpt-5", undefined],
    ]);
  });

  it("continues after a pattern that matches nothing, and reports it", async () => {
    const { names, diagnostics } = await scope("nothing-*", "gpt-oss");
    expect(names).toHaveLength(1);
    expect(diagnostics[0]?.message).toContain("nothing-*");
  });
});
