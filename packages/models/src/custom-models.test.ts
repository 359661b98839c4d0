import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessRegistry } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeModel } from "./__fixtures__/fake-registry.ts";
import { createModelRegistry } from "./create-model-registry.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-models-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const builtIn = [
  fakeModel("vendor", "one", { compat: { a: 1 } }),
  fakeModel("vendor", "two", { thinkingLevelMap: { high: "h" } }),
];

function registryWith(file: unknown, environment: Record<string, string> = {}) {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  if (file !== undefined) writeFileSync(join(agentDirectory, "models.json"), text);
  return createModelRegistry({
    processes: new ProcessRegistry(),
    agentDirectory,
    environment,
    catalog: {
      providers: () => ({ vendor: { apiKeyEnv: "VENDOR_KEY" } }),
      models: async () => builtIn,
    },
    apis: ["openai-completions", "openai-responses", "anthropic-messages"],
  });
}

const local = {
  baseUrl: "http://localhost:11434/v1",
  api: "openai-completions",
  models: [{ id: "qwen3:8b" }],
};

describe("models.json", () => {
  it("needs only an id for a model", async () => {
    const registry = registryWith({ providers: { ollama: local } });
    expect(await registry.find("ollama", "qwen3:8b")).toEqual({
      id: "qwen3:8b",
      name: "qwen3:8b",
      api: "openai-completions",
      provider: "ollama",
      baseUrl: "http://localhost:11434/v1",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
    });
  });

  it("allows comments and trailing commas", async () => {
    const registry = registryWith(`{ // mine\n "providers": { "o": ${JSON.stringify(local)}, }, }`);
    expect(await registry.diagnostics()).toEqual([]);
    expect(await registry.models("o")).toHaveLength(1);
  });

  it("replaces a built-in model with the same id and keeps the others", async () => {
    const registry = registryWith({
      providers: { vendor: { ...local, models: [{ id: "one", name: "Mine" }] } },
    });
    const models = await registry.models("vendor");
    expect(models.map(({ id, name }) => [id, name])).toEqual([
      ["two", "two"],
      ["one", "Mine"],
    ]);
  });

  it("changes the address of built-in models and merges overrides per field", async () => {
    const registry = registryWith({
      providers: {
        vendor: {
          baseUrl: "https://proxy.invalid",
          compat: { b: 2 },
          modelOverrides: {
            one: { cost: { output: 9 }, compat: { c: 3 }, maxTokens: 7 },
            unknown: { maxTokens: 1 },
          },
        },
      },
    });
    const [one, two] = await registry.models("vendor");
    expect(one).toMatchObject({
      baseUrl: "https://proxy.invalid",
      compat: { a: 1, b: 2, c: 3 },
      cost: { input: 1, output: 9 },
      maxTokens: 7,
    });
    expect(two?.maxTokens).toBe(100);
  });

  it.each([
    [{ providers: { x: { models: [{ name: "no id" }] } } }, "providers.x.models[0].id"],
    [{ providers: { x: { ...local, models: [{ id: "a", input: ["smell"] }] } } }, "input[0]"],
    [{ providers: { x: { models: [{ id: "a" }] } } }, "providers.x.models[0].baseUrl"],
    [{ providers: { x: { baseUrl: "u", models: [{ id: "a" }] } } }, "providers.x.models[0].api"],
    ["{ broken", "line 1"],
  ])("keeps the built-in models and names the bad field: %j", async (file, field) => {
    const registry = registryWith(file);
    expect((await registry.diagnostics())[0]?.message).toContain(field);
    expect(await registry.models("vendor")).toEqual(builtIn);
  });

  it("gives a model without an address that of its provider's built-in models", async () => {
    const registry = registryWith({ providers: { vendor: { models: [{ id: "x" }] } } });
    expect(await registry.diagnostics()).toEqual([]);
    expect((await registry.models("vendor")).slice(0, 2)).toEqual(builtIn);
    expect(await registry.find("vendor", "x")).toMatchObject({
      api: "openai-completions",
      baseUrl: "https://vendor.invalid/v1",
    });
  });

  it("takes the format of the known model with the most similar id", async () => {
    const registry = createModelRegistry({
      processes: new ProcessRegistry(),
      agentDirectory,
      environment: {},
      catalog: {
        providers: () => ({ mixed: {} }),
        models: async () => [
          fakeModel("mixed", "gpt-1", { api: "openai-responses", baseUrl: "https://m.invalid/r" }),
          fakeModel("mixed", "claude-1", {
            api: "anthropic-messages",
            baseUrl: "https://m.invalid",
          }),
        ],
      },
    });
    const models = [{ id: "claude-2" }, { id: "claude-3", api: "openai-responses" }];
    writeFileSync(
      join(agentDirectory, "models.json"),
      JSON.stringify({ providers: { mixed: { models } } }),
    );
    const found = (await registry.models("mixed")).slice(2);
    expect(found.map(({ id, api, baseUrl }) => [id, api, baseUrl])).toEqual([
      ["claude-2", "anthropic-messages", "https://m.invalid"],
      ["claude-3", "openai-responses", "https://m.invalid/r"],
    ]);
  });

  it.each([
    [
      { ...local, baseURL: "http://x" },
      "providers.x.baseURL: there is no such member; the nearest is baseUrl",
    ],
    [
      { baseURL: "http://x", api: "openai-completions", models: [{ id: "a" }] },
      "its own or its provider's; baseURL is misspelt, write baseUrl",
    ],
    [
      { ...local, models: [{ id: "a", contextwindow: 9 }] },
      "providers.x.models[0].contextwindow: there is no such member; the nearest is contextWindow",
    ],
    [{ ...local, models: [{ id: "a", cost: { inptu: 9 } }] }, "models[0].cost.inptu: there is no"],
    [
      { ...local, modelOverrides: { a: { smell: 9 } } },
      "modelOverrides.a.smell: there is no such member",
    ],
    [
      { ...local, api: "openai-completion" },
      'provider "x" is left out: providers.x.api: Tau does not speak openai-completion; did you mean openai-completions?',
    ],
    [
      { ...local, models: [{ id: "a", api: "ollama-chat" }] },
      'model "x/a" is left out: providers.x.models[0].api: Tau does not speak ollama-chat; it is one of openai-completions, ',
    ],
    [{ ...local, modelOverrides: { a: { api: "anthropic" } } }, "did you mean anthropic-messages?"],
  ])("names unknown members: %j", async (entry, text) => {
    const diagnostics = await registryWith({ providers: { x: entry } }).diagnostics();
    expect(diagnostics.map(({ message }) => message).join("\n")).toContain(text);
    expect(diagnostics.map(({ severity }) => severity)).not.toContain("error");
  });

  it("does not report members for comments and editors", async () => {
    const registry = registryWith({ $schema: "s", providers: { x: { ...local, "//": "mine" } } });
    expect(await registry.diagnostics()).toEqual([]);
  });

  it.each([
    [{ provider: {} }, "provider is misspelt"],
    [{ providers: [] }, "must be an object"],
  ])("cannot be used at all without providers: %j", async (file, text) => {
    const [problem] = await registryWith(file).diagnostics();
    expect(problem).toMatchObject({ severity: "error", reason: expect.stringContaining(text) });
  });

  it("leaves out only the invalid models, overrides and providers, and names each", async () => {
    const registry = registryWith({
      providers: {
        vendor: { modelOverrides: { one: { maxTokens: "many" }, two: { maxTokens: 7 } } },
        local: {
          ...local,
          models: [{ id: "bad", cost: { input: -1 } }, { id: "good" }, { name: 1 }],
        },
        half: {
          ...local,
          baseUrl: undefined,
          models: [{ id: "a" }, { id: "b", baseUrl: "http://b" }],
        },
        broken: { ...local, headers: { "x-a": 1 } },
        number: 7,
      },
    });
    const ids = async (provider: string) => (await registry.models(provider)).map(({ id }) => id);
    expect(await ids("local")).toEqual(["good"]);
    expect(await ids("half")).toEqual(["b"]);
    expect((await registry.models("vendor")).map(({ maxTokens }) => maxTokens)).toEqual([100, 7]);
    expect(await registry.providers()).toEqual(["vendor", "local", "half"]);
    const path = join(agentDirectory, "models.json");
    expect(await registry.diagnostics()).toEqual(
      [
        "providers.vendor.modelOverrides.one is left out: providers.vendor.modelOverrides.one.maxTokens: must be a number above 0",
        'model "local/bad" is left out: providers.local.models[0].cost.input: must be a number of at least 0',
        "providers.local.models[2] is left out: providers.local.models[2].id: is missing",
        'model "half/a" is left out: providers.half.models[0].baseUrl: a model needs a baseUrl, its own or its provider\'s',
        'provider "broken" is left out: providers.broken.headers.x-a: must be a string or null',
        'provider "number" is left out: providers.number: must be an object',
      ].map((problem) => {
        const reason = problem.slice(problem.indexOf(" is left out: ") + " is left out: ".length);
        const member = reason.split(":", 1)[0];
        return { severity: "warning", message: `${path}: ${problem}`, path, member, reason };
      }),
    );
  });

  it("keeps header values out of the model and resolves them for the request", async () => {
    const registry = registryWith(
      {
        providers: {
          mine: {
            ...local,
            apiKey: "$MY_KEY",
            authHeader: true,
            headers: { "x-team": "a", "x-secret": "$MY_SECRET" },
            models: [{ id: "m", headers: { "x-team": "b" } }],
          },
        },
      },
      { MY_KEY: "k", MY_SECRET: "hidden" },
    );
    const model = await registry.find("mine", "m");
    expect(JSON.stringify(model)).not.toContain("x-secret");
    expect(model && (await registry.requestAuth(model))).toEqual({
      apiKey: "k",
      keyStep: "The key from models.json was refused. Check it.",
      secrets: ["k"],
      environment: { MY_KEY: "k", MY_SECRET: "hidden" },
      headers: { Authorization: "Bearer k", "x-team": "b", "x-secret": "hidden" },
    });
  });

  it("suppresses a header that an SDK would send", async () => {
    const headers = { "user-agent": null, "x-team": "a" };
    const models = [{ id: "m", headers: { "x-team": null } }, { id: "n" }];
    const registry = registryWith({ providers: { mine: { ...local, headers, models } } });
    expect(await registry.diagnostics()).toEqual([]);
    const [m, n] = await registry.models("mine");
    expect(m && (await registry.requestAuth(m)).headers).toEqual({
      "user-agent": null,
      "x-team": null,
    });
    expect(n && (await registry.requestAuth(n)).headers["x-team"]).toBe("a");
  });

  it("makes a provider available if it has a key in models.json or the environment, or is local", async () => {
    const remote = { ...local, baseUrl: "https://far.invalid" };
    const registry = registryWith(
      {
        providers: {
          local,
          keyed: { ...remote, apiKey: "word" },
          unset: { ...remote, apiKey: "$NOPE" },
          bare: remote,
        },
      },
      { VENDOR_KEY: "k" },
    );
    expect(await registry.availableProviders()).toEqual(["local", "keyed", "vendor"]);
  });

  it("is read again after a reload", async () => {
    const registry = registryWith(undefined);
    expect(await registry.models("ollama")).toEqual([]);
    writeFileSync(
      join(agentDirectory, "models.json"),
      JSON.stringify({ providers: { ollama: local } }),
    );
    registry.reload();
    expect(await registry.models("ollama")).toHaveLength(1);
  });
});
